// A part of the page that steers whoever uses it into what they did not ask for, placed where the
// page has such parts itself.
(settings, {main, inLanguage, mark, note, make, keep, tell, on, later, isReady}) => {
    // Milliseconds after which a page that draws itself is expected to have done so.
    const SETTLED = 1500;
    const all = (selector) => [...main().querySelectorAll(selector)].filter((it) => it.checkVisibility());
    const like = (element) => {
        const copy = element.cloneNode(false);
        copy.removeAttribute("id");
        return copy;
    };
    // Put an element beside one of the page's own, or last, once no framework is to take that over.
    const put = (element, beside, how) => {
        const there = beside && beside.isConnected ? beside : main();
        if (isReady(there)) there[there === beside ? how : "append"](element);
    };
    const SPENDS = /\b(buy|order|pay|purchase|check ?out|book|donate|subscribe|reserve)\b|kaufen|bestell|bezahl|buchen|spenden|acheter|commander|payer|r\u00e9server|comprar|pagar|pedido|reservar|acquista|ordina|paga|kopen|betalen|kup|zam\u00f3w|zap\u0142a|\u043a\u0443\u043f\u0438\u0442\u044c|\u043e\u043f\u043b\u0430\u0442|\u0437\u0430\u043a\u0430\u0437|sat\u0131n|\u00f6de|\u6ce8\u6587|\u8cfc\u5165|\u8d2d\u4e70|\u652f\u4ed8|\uad6c\ub9e4|\uacb0\uc81c|\u0634\u0631\u0627\u0621|\u062f\u0641\u0639|\u05ea\u05e9\u05dc\u05d5\u05dd|\u05d4\u05d6\u05de\u05e0|\u05e7\u05e0\u05d9/i;
    const LEAVES = /unsubscribe|opt.?out|abmelden|d\u00e9sabonner|darse de baja|disiscri|uitschrijven|\u043e\u0442\u043f\u0438\u0441|\u914d\u4fe1\u505c\u6b62|\u9000\u8ba2/i;
    const CARD = "[autocomplete^=cc-],[name*=card i],[name*=iban i],[name*=payment i]";
    const PERSONAL = "[type=email],[type=tel],[autocomplete*=name],[autocomplete*=address],[autocomplete*=postal],[autocomplete*=tel],[autocomplete=email],[autocomplete=bday]";
    const ABOUT_PERSON = /e-?mail|^mail$|phone|^tel|address|street|city|postcode|postal|zip|birth|first.?name|last.?name|surname|full.?name|^name$/i;
    const SEARCHES = /search|filter|sort|query|\bq\b|login|log-in|signin|sign-in|session|logout|newsletter.?(out|off)/i;
    // What a form takes from whoever sends it: money, data about them, or neither.
    const takes = (form) => {
        const fields = [...form.elements].filter((it) => it.matches("input,select,textarea") && it.type !== "hidden" && it.checkVisibility());
        const button = [...form.querySelectorAll("button,input[type=submit],input[type=image]")].map((it) => `${it.textContent} ${it.value || ""}`).join(" ");
        const about = `${form.getAttribute("action") || ""} ${form.id} ${form.className} ${form.getAttribute("aria-label") || ""}`;
        if (form.matches("[role=search]") || form.querySelector("[type=search]") || LEAVES.test(`${about} ${button} ${form.textContent.slice(0, 400)}`)) return null;
        if (form.querySelector(CARD) && fields.length) return "money";
        const isPersonal = (it) => it.matches(PERSONAL) || ABOUT_PERSON.test(it.name) || ABOUT_PERSON.test(it.id);
        const personal = fields.filter(isPersonal), secrets = fields.filter((it) => it.type === "password");
        const isLogin = secrets.length === 1 && fields.filter((it) => !["checkbox", "submit"].includes(it.type)).length <= 2;
        if (isLogin || SEARCHES.test(about)) return null;
        if (SPENDS.test(button) && fields.length) return "money";
        return personal.length && form.method !== "get" ? "data" : personal.length > 1 ? "data" : null;
    };
    const preticked = () => {
        const label = make("label", {display: "block", margin: "8px 0"});
        const box = make("input", {"margin-inline-end": "6px"}), said = make("span", {});
        box.type = "checkbox";
        box.checked = true;
        label.append(box, said);
        on(box, "change", (event) => tell(box.checked ? "ticked" : "unticked", event));
        on(document, "submit", (event) => {
            if (box.checked && event.target.contains(label)) tell("kept", event);
        }, true);
        let isFound = false;
        keep(label, "shown", () => {
            const form = [...document.forms].find((it) => it.checkVisibility() && takes(it));
            if (!form) return;
            isFound = true;
            said.textContent = inLanguage(settings.words)[takes(form)];
            mark(label, settings.words);
            note("ticked box", "", said.textContent);
            const send = [...form.querySelectorAll("button:not([type=button]):not([type=reset]),[type=submit]")].filter((it) => it.checkVisibility()).at(-1);
            const beside = send && (send.closest("[class*=action i],[class*=button i]:not(button)") || send);
            if (isReady(form)) beside && form.contains(beside) && beside !== form ? beside.before(label) : form.append(label);
        });
        later(() => {
            if (!isFound) tell("nothing", null, "no_form");
        }, SETTLED);
    };
    const advertisement = () => {
        const [sample] = all(":is(ul, ol) > li:not(nav *):first-child").filter((it) => it.nextElementSibling);
        const item = sample ? like(sample) : make("div", {margin: "12px 0"});
        const model = sample && sample.querySelector("a");
        const link = model ? like(model) : make("a", {});
        link.removeAttribute("target");
        link.href = settings.target;
        const words = inLanguage(settings.words);
        for (const name in words) note(name, "", words[name]);
        link.textContent = words.advertisement;
        mark(item, settings.words);
        on(link, "click", (event) => tell("clicked", event));
        item.append(link, make("p", {margin: "2px 0"}, words.text));
        keep(item, "shown", () => put(item, sample, "after"));
    };
    ({preticked_box: preticked, disguised_ad: advertisement})[settings.pattern]();
}
