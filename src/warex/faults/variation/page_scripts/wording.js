// Other words for what an interface says: whole labels by a table, whatever stands around the words.
(settings, kit) => {
    const {watch, may, allows, changed, note, found} = kit;
    const LONGEST = 60, ATTRIBUTES = ["placeholder", "aria-label", "title"];
    const SHAPE = /^([^\p{L}]*)(\p{L}[^]*?)([^\p{L}]*)$/u;
    const BUTTONS = "input[type=submit],input[type=button],input[type=reset]";
    const table = new Map(Object.entries(settings.words));
    const verbs = new Map(Object.entries(settings.verbs || {}));
    const written = new WeakMap();
    const plain = (said) => said.replace(/\s+/g, " ").toLowerCase();
    const inCase = (to, said) => {
        if (said.length > 1 && said === said.toUpperCase()) return to.toUpperCase();
        return said[0] === said[0].toLowerCase() ? to[0].toLowerCase() + to.slice(1) : to;
    };
    const wordsOf = (text) => text.length > LONGEST ? null : SHAPE.exec(text);
    // Return what a text is to say; null where it stays.
    const reworded = (text) => {
        const parts = wordsOf(text);
        if (!parts) return null;
        const [, before, said, after] = parts, key = plain(said), first = key.split(" ", 1)[0];
        let to = table.get(key);
        if (to) to = inCase(to, said);
        else if (verbs.has(first) && key !== first && key.split(" ").length < 5) {
            to = inCase(verbs.get(first), said.slice(0, first.length)) + said.slice(first.length);
        }
        return to && to !== said ? before + to + after : null;
    };
    // A label that the page has already would name two things.
    const spare = (text) => {
        const parts = wordsOf(text);
        if (!parts) return;
        const key = plain(parts[2]);
        for (const map of [table, verbs]) {
            for (const [from, to] of map) if (to.toLowerCase() === key && from !== key) map.delete(from);
        }
    };
    // Call ``use`` with each text of an interface, and with what sets it.
    const texts = (roots, use) => {
        for (const element of found(roots, settings.where)) {
            const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                const holder = node.parentElement;
                if (holder.closest("script,style,textarea,code,pre,svg")) continue;
                use(node, "", node.data, holder, (text) => { node.data = text; });
            }
        }
        for (const name of ATTRIBUTES) {
            for (const element of found(roots, `[${name}]`)) {
                use(element, name, element.getAttribute(name), element, (text) => element.setAttribute(name, text));
            }
        }
        for (const element of found(roots, BUTTONS)) {
            // The value of one with a name is sent to the site.
            if (element.name || !element.hasAttribute("value")) continue;
            use(element, "value", element.getAttribute("value"), element, (text) => element.setAttribute("value", text));
        }
    };
    const isWritten = (node, name, text) => {
        const known = written.get(node);
        return known !== undefined && known[name] === text;
    };
    const reword = () => watch((roots) => {
        texts(roots, (node, name, text) => {
            if (!isWritten(node, name, text)) spare(text);
        });
        texts(roots, (node, name, text, holder, set) => {
            if (isWritten(node, name, text)) return;
            const to = reworded(text);
            if (to === null || !may(holder) || !allows(node)) return;
            written.set(node, {...written.get(node), [name]: to});
            set(to);
            note(name || node.parentElement.localName, text, to);
            changed(holder, () => (name ? node.getAttribute(name) : node.data) === to);
        });
    }, [...ATTRIBUTES, "value"]);
    return {...kit, reword};
}
