// The language that a page is in: its own word for it, unless its texts are plainly in another.
(settings, kit) => {
    const {note, natives} = kit;
    const LONGEST = 4000, SHARE = 0.3, LEAST = 4;
    // The first of which a page has a share of its letters; Japanese has characters of Chinese, too.
    const LETTERS = [["ja", /[\u3040-\u30ff]/g, 0.05], ["ko", /[\uac00-\ud7af]/g, SHARE], ["zh", /[\u4e00-\u9fff]/g, SHARE], ["ru", /[\u0400-\u04ff]/g, SHARE], ["ar", /[\u0600-\u06ff]/g, SHARE], ["he", /[\u0590-\u05ff]/g, SHARE]];
    const WORDS = {
        en: "the and of to is for with your this you are our",
        de: "der die das und nicht mit f\u00fcr ist ein eine sie wir auf den",
        fr: "le la les des et est une pour vous dans nous avec sur",
        es: "el los las una para con por que y del sus nuestro",
        it: "il gli che di per una sono con della nel pi\u00f9",
        pt: "os uma para com n\u00e3o em do da que seu mais",
        nl: "de het een van en niet voor met op je zijn wij",
        pl: "nie si\u0119 na jest do dla oraz w z jak lub",
        tr: "ve bir i\u00e7in bu ile de\u011fil daha olarak",
    };
    const readOf = (text) => {
        const letters = (text.match(/\p{L}/gu) || []).length;
        if (letters < LEAST) return "";
        for (const [language, shape, share] of LETTERS) if ((text.match(shape) || []).length >= share * letters) return language;
        const used = text.toLowerCase().split(/[^\p{L}]+/u), counts = {};
        for (const language in WORDS) {
            const words = new Set(WORDS[language].split(" "));
            counts[language] = used.filter((word) => words.has(word)).length;
        }
        const [first, second] = Object.keys(counts).sort((a, b) => counts[b] - counts[a]);
        return counts[first] >= LEAST && counts[first] > 1.5 * counts[second] ? first : "";
    };
    const languageOf = () => {
        const named = natives.lang(natives.root(document)).trim().toLowerCase().split("-")[0];
        const body = natives.body(document);
        const read = readOf(`${natives.title(document)} ${body ? natives.slice(natives.innerText(body), 0, LONGEST) : ""}`);
        // Many pages keep the English name of a template; one of the script's other languages is its own.
        return named && named !== "en" ? named : read || named || "en";
    };
    let language = null;
    // Return the words in the page's language, and English where there are none.
    const inLanguage = (words) => {
        try {
            language = language || languageOf();
        } catch (error) {
            // The page works against it.
            language = "en";
        }
        // A page may call its language like a property of every object.
        return {__proto__: null, ...words}[language] || words.en;
    };
    const speak = (words) => {
        const chosen = inLanguage(words);
        for (const name in chosen) note(name, "", chosen[name]);
        return chosen;
    };
    // Tell the browser, and who listens, in what language an element is.
    const mark = (element, words) => {
        const spoken = inLanguage(words) === words.en ? "en" : language;
        natives.setAttribute(element, "lang", spoken);
        natives.setAttribute(element, "dir", spoken === "ar" || spoken === "he" ? "rtl" : "ltr");
        return element;
    };
    return {...kit, speak, inLanguage, mark};
}
