// Other words for what an interface says: whole labels by a table, whatever stands around the words.
(settings, kit) => {
    const {watch, may, allows, changed, note, found, runsIn, textsOf, spread, put} = kit;
    const LONGEST = 60, ATTRIBUTES = ["placeholder", "aria-label", "title"];
    const SHAPE = /^([^\p{L}]*)(\p{L}[^]*?)([^\p{L}]*)$/u;
    const BUTTONS = "input[type=submit],input[type=button],input[type=reset]";
    const table = new Map(Object.entries(settings.words));
    const verbs = new Map(Object.entries(settings.verbs || {}));
    const written = new WeakMap();
    const inOneLine = (said) => said.replace(/\s+/g, " ").trim();
    const plain = (said) => inOneLine(said).toLowerCase();
    const inCase = (to, said) => {
        if (said.length > 1 && said === said.toUpperCase()) return to.toUpperCase();
        return said[0] === said[0].toLowerCase() ? to[0].toLowerCase() + to.slice(1) : to;
    };
    const wordsOf = (text) => text.trim().length > LONGEST ? null : SHAPE.exec(text);
    // Return where in a text its words stand, and what they are to be; null where they stay.
    const reworded = (text) => {
        const parts = wordsOf(text);
        if (!parts) return null;
        const [, before, said] = parts, key = plain(said), first = key.split(" ", 1)[0];
        let to = table.get(key);
        if (to) to = inCase(to, said);
        else if (verbs.has(first) && key !== first && key.split(" ").length < 5) {
            to = inCase(verbs.get(first), said.slice(0, first.length)) + said.slice(first.length);
        }
        return to && to !== said ? {start: before.length, end: before.length + said.length, to} : null;
    };
    const replaced = (text, {start, end, to}) => text.slice(0, start) + to + text.slice(end);
    // A label that the page has already would name two things.
    const spare = (text) => {
        const parts = wordsOf(text);
        if (!parts) return;
        const key = plain(parts[2]);
        for (const map of [table, verbs]) {
            for (const [from, to] of map) if (to.toLowerCase() === key && from !== key) map.delete(from);
        }
    };
    const rewordRun = (run) => {
        const done = [];
        for (const text of textsOf(run)) {
            if (done.some(({from, to}) => from < text.to && to > text.from)) continue;
            const change = reworded(text.says);
            if (!change) continue;
            done.push(text);
            const texts = [...spread(text, change.start, change.end, change.to)];
            if (texts.every(([node, given]) => node.data === given)) continue;
            const [[first]] = texts, last = texts.at(-1)[0];
            if (texts.some(([node]) => !may(node.parentElement)) || !allows(first)) continue;
            for (const [node, given] of texts) put(node, given);
            const range = document.createRange();
            range.setStart(first, 0);
            range.setEnd(last, 0);
            const around = range.commonAncestorContainer;
            const holder = around.nodeType === Node.TEXT_NODE ? around.parentElement : around;
            note(holder.localName, inOneLine(text.says), inOneLine(replaced(text.says, change)));
            changed(holder, () => texts.every(([node, given]) => node.data === given));
        }
    };
    // Call ``use`` with each attribute that an interface shows.
    const attributes = (roots, use) => {
        for (const name of ATTRIBUTES) for (const element of found(roots, `[${name}]`)) use(element, name);
        // The value of one with a name is sent to the site.
        for (const element of found(roots, BUTTONS)) if (!element.name && element.hasAttribute("value")) use(element, "value");
    };
    const isWritten = (element, name) => {
        const known = written.get(element);
        return known !== undefined && known[name] === element.getAttribute(name);
    };
    const rewordAttribute = (element, name) => {
        if (isWritten(element, name)) return;
        const text = element.getAttribute(name), change = reworded(text);
        if (change === null || !may(element) || !allows(element)) return;
        const to = replaced(text, change);
        written.set(element, {...written.get(element), [name]: to});
        element.setAttribute(name, to);
        note(name, text, to);
        changed(element, () => element.getAttribute(name) === to);
    };
    const reword = () => watch((roots) => {
        const runs = [...found(roots, settings.where)].flatMap((element) => runsIn(element));
        for (const run of runs) for (const {says} of textsOf(run)) spare(says);
        attributes(roots, (element, name) => {
            if (!isWritten(element, name)) spare(element.getAttribute(name));
        });
        runs.forEach(rewordRun);
        attributes(roots, rewordAttribute);
    }, {attributes: [...ATTRIBUTES, "value"], isDeep: true});
    return {...kit, reword};
}
