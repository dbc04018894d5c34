// The language that a page is in: its own word for it, unless its texts are plainly in another.
(settings, kit) => {
    const {note, natives} = kit;
    const LONGEST = 4000, LEAST = 4;
    // The letters of languages with the share of them that a text in each has, and common words of others.
    const {letters: LETTERS, words: WORDS} = settings.languages;
    const readOf = (text) => {
        const letters = (text.match(/\p{L}/gu) || []).length;
        if (letters < LEAST) return "";
        for (const [language, range, share] of LETTERS) if ((text.match(new RegExp(`[${range}]`, "g")) || []).length >= share * letters) return language;
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
