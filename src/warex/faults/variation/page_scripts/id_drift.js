// Names that no script or style speaks of are called something else. The proxy, which has read the
// site's scripts and styles, says which those are.
({strength}, {watch, may, allows, changed, note, on, luck, inquire, later}) => {
    const PIECE = 50000, NAMES_AT_ONCE = 1000, TRIES = 3;
    const TEST_IDS = ["data-testid", "data-test", "data-test-id", "data-cy", "data-qa"];
    const LISTS = ["class", "headers", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "aria-details", "aria-errormessage", "aria-flowto", "aria-activedescendant"];
    const SINGLE = ["id", "for", "form", "list", "popovertarget", "commandfor", ...TEST_IDS];
    const RENAMED = new Set([...LISTS, ...SINGLE, "name", "href"]);
    const NAMED = ["id", "class", ...TEST_IDS];
    // These say nothing by which a script finds an element.
    const PLAIN = new Set(["value", "placeholder", "title", "alt", "aria-label", "src", "srcset", "type", "role", "action", "method", "content", "autocomplete", "lang", "rel", "name"]);
    const FIELDS = "input[name]:not([type=hidden]):not([type=radio]),select[name],textarea[name]";
    const OWN_SENDING = "[hx-get],[hx-post],[hx-put],[hx-patch],[hx-delete],[data-hx-get],[data-hx-post],[data-hx-put],[data-hx-patch],[data-hx-delete]";
    // Where a server's later answers name the elements that they replace.
    const BY_ID = "[hx-get],[hx-post],[data-hx-get],[data-hx-post],turbo-frame,[data-phx-main],[wire\\:id],[up-target]";
    // What is called something else, what was, and whose names came back.
    const renamed = new Map(), originals = new Map(), back = new Map();
    const asked = new Set(), said = new Set(), held = new Set(), fought = new Set();
    const heard = new WeakMap(), visited = new WeakSet();
    const drifted = [];
    let waiting = false, tries = 0, texts = [];
    const drifts = (name) => luck("drift", name) < strength;
    const nameFor = (name) => {
        const sum = (about) => Math.floor(luck(about, name) * 2 ** 32).toString(36);
        return `${"bcdfghklmnprstvw"[Math.floor(luck("first", name) * 16)]}${sum("new").slice(0, 6)}`;
    };
    const isField = (element) => element.matches(FIELDS) && element.form !== null && !element.closest(OWN_SENDING);
    const namesOf = (element) => {
        const names = NAMED.flatMap((it) => (element.getAttribute(it) || "").split(/\s+/));
        if (isField(element)) names.push(element.getAttribute("name"));
        return names.filter(Boolean);
    };
    // Return all names that an element has or points at.
    const spokenBy = (element) => [...LISTS, ...SINGLE, "name", "href"].flatMap((it) => (element.getAttribute(it) || "").replace(/^#/, "").split(/\s+/));
    const all = (roots) => new Set(roots.flatMap((root) => [root, ...root.querySelectorAll("*")]));
    // Return what was drawn, and of what was drawn before that alone which changed.
    const drawn = (roots) => {
        const elements = new Set();
        for (const root of roots) for (const element of visited.has(root) ? [root] : all([root])) elements.add(element);
        for (const element of elements) visited.add(element);
        return elements;
    };
    const hear = (text) => {
        if (!text || said.has(text)) return;
        said.add(text);
        texts.push(text);
    };
    // What the page itself holds of scripts and styles, and of values that a script may use.
    const listen = (elements) => {
        const byId = document.querySelector(BY_ID) !== null;
        for (const element of elements) {
            if (element.matches("script:not([src])")) hear(element.textContent);
            for (const {name, value} of element.attributes) {
                if (!RENAMED.has(name) && !PLAIN.has(name)) hear(value);
                if (name === "href" && value[0] !== "#") hear(value.split("#")[1]);
            }
            if (!isField(element) && !originals.has(element.getAttribute("name"))) hear(element.getAttribute("name"));
            if (byId && !originals.has(element.id)) hear(element.id);
        }
        for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
            if (sheet.href || sheet.cssRules.length === heard.get(sheet)) continue;
            heard.set(sheet, sheet.cssRules.length);
            for (const rule of sheet.cssRules) hear(rule.cssText);
        }
    };
    const addresses = () => {
        const links = [...document.scripts, ...document.styleSheets].map((it) => it.src || it.href);
        return [...new Set(links.filter(Boolean).map((it) => it.split("#", 1)[0]))];
    };
    const setTo = (element, name, to) => {
        if (to !== null && to !== undefined && element.getAttribute(name) !== to) element.setAttribute(name, to);
    };
    // Scripts that read a field's name read the one that it had.
    const keepName = (field, name) => Object.defineProperty(field, "name", {
        configurable: true,
        get: () => name,
        set: (value) => {
            if (`${value}` === name) return;
            delete field.name;
            field.name = value;
        },
    });
    // Return what a name is, by the first element that has it.
    const kindOf = (name) => {
        const holder = document.querySelector(`[id="${CSS.escape(name)}"]`) ? "id" : null;
        return holder || (document.getElementsByClassName(name).length ? "class" : "name");
    };
    const isFixed = (element) => element instanceof SVGElement || !may(element);
    const apply = (elements, names) => {
        for (const element of elements) {
            const found = element.hasAttributes() ? spokenBy(element).filter((it) => names.has(it)) : [];
            if (!found.length || isFixed(element)) continue;
            if (names === renamed && !allows(element)) {
                for (const name of found) fought.add(name);
                begin();
                continue;
            }
            for (const name of LISTS) {
                const value = element.getAttribute(name);
                if (value) setTo(element, name, value.split(/(\s+)/).map((it) => names.get(it) || it).join(""));
            }
            for (const name of SINGLE) setTo(element, name, names.get(element.getAttribute(name)));
            const link = element.getAttribute("href"), field = element.getAttribute("name");
            if (link && link[0] === "#" && names.has(link.slice(1))) setTo(element, "href", `#${names.get(link.slice(1))}`);
            if (names.has(field) && names === renamed && isField(element)) {
                setTo(element, "name", names.get(field));
                keepName(element, field);
            } else if (names.has(field) && names !== renamed) {
                setTo(element, "name", names.get(field));
                delete element.name;
            }
            changed(element);
        }
    };
    const inquiry = async () => {
        while (texts.length) {
            const text = texts.join("\n");
            texts = [];
            for (let at = 0; at < text.length; at += PIECE - 200) await inquire("mentions", text.slice(at, at + PIECE));
        }
        const names = [...asked], free = new Set();
        for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
            const about = {addresses: addresses(), names: names.slice(at, at + NAMES_AT_ONCE)};
            for (const name of await inquire("names", JSON.stringify(about))) free.add(name);
        }
        const page = all([document.documentElement]);
        for (const [name, to] of renamed) {
            if (free.has(name) && !fought.has(name)) continue;
            renamed.delete(name);
            back.set(to, name);
        }
        apply(page, back);
        held.clear();
        for (const element of page) {
            const names = spokenBy(element).filter((it) => free.has(it));
            if (names.length && isFixed(element)) for (const name of names) held.add(name);
        }
        for (const name of free) {
            const to = nameFor(name);
            if (renamed.has(name) || held.has(name) || fought.has(name) || asked.has(to) || location.hash === `#${name}`) continue;
            renamed.set(name, to);
            if (!originals.has(to)) drifted.push([name, to]);
            originals.set(to, name);
            back.delete(to);
        }
        for (const [name, to] of drifted.splice(0)) note(kindOf(name), name, to);
        apply(page, renamed);
        return free.size > 0;
    };
    const begin = () => {
        if (waiting) return;
        waiting = true;
        inquiry().catch(() => false).then((done) => {
            waiting = false;
            if ((!done && ++tries < TRIES) || texts.length) later(begin, 1000);
        });
    };
    // The site is sent the names that it knows.
    on(window, "formdata", ({formData}) => {
        const entries = [...formData];
        if (!entries.some(([name]) => originals.has(name))) return;
        for (const [name] of entries) formData.delete(name);
        for (const [name, value] of entries) formData.append(originals.get(name) || name, value);
    }, true);
    let links = "";
    watch((roots) => {
        const elements = drawn(roots), before = asked.size, now = addresses().join();
        listen(elements);
        for (const element of elements) {
            for (const name of namesOf(element)) if (drifts(name) && !originals.has(name)) asked.add(name);
        }
        apply(elements, back);
        apply(elements, renamed);
        const waits = held.size > 0 && [...elements].some((element) => namesOf(element).some((it) => held.has(it)));
        if (asked.size > before || waits || texts.length || now !== links) begin();
        links = now;
    }, {attributes: [...LISTS, ...SINGLE, "name", "href"]});
}
