// Alike parts of a group change places. A part stays a child of its parent and gets the place of
// another, so that frameworks find it where they look. Where the page itself puts parts in an order,
// its order comes back and stays.
({strength}, {watch, may, allows, changed, note, luck, found}) => {
    const NAV = "nav,[role=navigation]", LINKS = "nav a[href],[role=navigation] a[href]";
    const LISTS = "ul,menu,[role=list],tbody,select,optgroup", MOST = 200;
    const CARDS = "article,[class*=card],[class*=item],[class*=product],[class*=tile],[class*=result]";
    const FIELDS = "input:not([type=hidden]),select,textarea";
    const part = (...words) => words.flatMap((word) => [`[class*=${word} i]`, `[aria-label*=${word} i]`]);
    // Order means something here.
    const ORDERED = [
        "ol,datalist,[role=log],[role=feed],[role=tablist],[role=tree],[role=treegrid],[role=listbox],[role=combobox]",
        "[aria-activedescendant],[contenteditable]",
        ...part("breadcrumb", "paginat", "pager", "step", "wizard", "carousel", "slider", "calendar", "timeline", "thread", "chat", "sortable", "rank", "tabs"),
    ].join();
    const DEPENDING = "[aria-sort],[rowspan],[scope=rowgroup]";
    const PLACED = "[aria-posinset],[aria-rowindex],[draggable=true],li[value]";
    // These would start anew if they were moved.
    const LIVE = "iframe,object,embed,video,audio,canvas,script";
    const SCALE = /^(mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)([a-z]*day|[a-z]*uary|ch|il|e|y|ust|[a-z]*ber)?\b|^(x{0,2}s|m|x{0,2}l|small|medium|large|low|normal|high|never|hourly|daily|weekly|monthly|yearly|total|sum)\b/i;
    const PRICE = /[$\u00a3\u20ac\u00a5]\s?\d[\d.,]*|\d[\d.,]*\s?[$\u00a3\u20ac\u00a5]/;
    const NUMBER = /-?\d+(?:[.,]\d{3})*(?:\.\d+)?/;
    const groups = new WeakMap(), rows = new WeakSet();
    const textOf = (item) => item.textContent.replace(/\s+/g, " ").trim();
    const goesOneWay = (values, compare) => {
        const steps = values.slice(1).map((value, at) => Math.sign(compare(values[at], value)));
        return steps.some((it) => it) && (steps.every((it) => it <= 0) || steps.every((it) => it >= 0));
    };
    // Whether a column is in the order of its numbers, dates or names.
    const isSorted = (column) => {
        const numbers = column.map((said) => said && NUMBER.exec(said));
        if (column.length > 2 && numbers.every(Boolean)) {
            if (goesOneWay(numbers.map(([said]) => Number(said.replace(/,/g, ""))), (a, b) => a - b)) return true;
        }
        return column.length > 3 && column.every(Boolean) && goesOneWay(column, (a, b) => a.localeCompare(b, "en", {numeric: true}));
    };
    const hasMeaning = (items) => {
        const texts = items.map(textOf), first = items[0];
        const starts = (shape) => texts.filter((text) => shape.test(text)).length > 1;
        if (starts(SCALE) || (first.matches("option") && starts(/^\d/))) return true;
        if (items.some((item) => item.matches(PLACED)) || getComputedStyle(first).position === "absolute") return true;
        if (2 * items.filter((item) => item.querySelector("time")).length >= items.length) return true;
        if (first.closest("nav,[role=navigation],header,footer") || rows.has(first)) return false;
        if (!first.matches("tr")) return isSorted(texts) || isSorted(texts.map((text) => (PRICE.exec(text) || [""])[0]));
        return [...first.cells].some((_, at) => isSorted(items.map((row) => textOf(row.cells[at]))));
    };
    // What an item has in common with those it may change places with; null where it stays.
    const likeness = (item, parent) => {
        if (item.matches(LIVE) || item.querySelector(LIVE) || item.localName.includes("-")) return null;
        if (parent.matches("select,optgroup")) {
            return item.matches("option") && item.value && !item.disabled && !item.selected ? "option" : null;
        }
        if (parent.matches("tbody")) {
            const cells = [...item.cells];
            if (cells.some((cell) => cell.colSpan > 1) || !cells.some((cell) => cell.matches("td"))) return null;
            return `row ${cells.length}`;
        }
        if (rows.has(item)) return "field";
        if (item.querySelector("form")) return null;
        const holds = ["a[href]", "button", FIELDS, "h1,h2,h3,h4,h5,h6"].map((it) => Number(Boolean(item.querySelector(it))));
        if (item.matches("li,[role=listitem]")) return `li ${holds}`;
        if (item.matches("a[href]")) return parent.closest(NAV) ? "link" : null;
        if (item.matches(CARDS)) return holds.some(Boolean) ? `${item.localName} ${item.classList[0]}` : null;
        return null;
    };
    // Return what may change places: alike, and with nothing between that a framework marks a range by.
    const runsOf = (parent, known) => {
        const runs = [];
        let like = null;
        for (const node of parent.childNodes) {
            const isMark = node.nodeType === Node.COMMENT_NODE || node.data === "";
            if (node.nodeType === Node.TEXT_NODE && !isMark) continue;
            const alike = isMark ? null : likeness(node, parent);
            const now = alike && (known.has(node) || may(node)) ? alike : null;
            if (now && now === like) runs.at(-1).push(node);
            else if (now) runs.push([node]);
            like = now;
        }
        return runs;
    };
    const move = (node, before, parent) => parent.moveBefore ? parent.moveBefore(node, before) : parent.insertBefore(node, before);
    const isHeld = (parent) => !parent.moveBefore && parent.contains(document.activeElement);
    const permute = (items, parent) => {
        const keys = new Map(items.map((item, at) => [item, textOf(item).replace(/[^\p{L}]+/gu, " ").slice(0, 200) || `${at}`]));
        const movers = items.filter((item) => luck("moves", keys.get(item)) < strength);
        if (movers.length < 2 || isHeld(parent) || !allows(parent)) return;
        const by = (salt) => {
            const drawn = new Map(movers.map((item, at) => [item, luck("place", salt, keys.get(item)) + at / 1e12]));
            return [...movers].sort((a, b) => drawn.get(a) - drawn.get(b));
        };
        let to = movers;
        for (let salt = 0; salt < 9 && to.every((item, at) => item === movers[at]); salt++) to = by(salt);
        if (to.every((item, at) => item === movers[at])) return;
        const places = movers.map((item) => parent.insertBefore(document.createComment(""), item));
        places.forEach((place, at) => {
            move(to[at], place, parent);
            place.remove();
        });
        const labels = (parts) => parts.map((item) => textOf(item).trim().slice(0, 60)).join(" | ");
        note(parent.id ? `${parent.localName}#${parent.id}` : parent.localName, labels(movers), labels(to));
        changed(parent, () => parent.contains(to[0]));
    };
    // Return the runs of a group that came and may be permuted.
    const freshIn = (parent) => {
        if (parent.closest(ORDERED) || parent.childElementCount > MOST || !may(parent)) return [];
        if (parent.matches("tbody") && parent.parentElement.querySelector(DEPENDING)) return [];
        const group = groups.get(parent) || {theirs: [...parent.childNodes], texts: new Map(), left: false};
        if (group.left) return [];
        groups.set(parent, group);
        observer.observe(parent, {childList: true});
        const runs = runsOf(parent, group.texts).map((run) => run.filter((item) => !group.texts.has(item)));
        for (const item of runs.flat()) group.texts.set(item, item.textContent);
        return runs.filter((run) => run.length > 1 && !hasMeaning(run));
    };
    // Keep the order that the page believes in: what it inserts before a node is before that node.
    const replay = (records) => {
        const before = new Map();
        for (const {target, addedNodes, removedNodes, nextSibling} of records) {
            const group = groups.get(target);
            if (!group) continue;
            if (!before.has(group)) before.set(group, new Set(group.theirs));
            const gone = new Set(removedNodes), stays = group.theirs.filter((node) => !gone.has(node));
            const at = nextSibling ? stays.indexOf(nextSibling) : -1;
            stays.splice(at < 0 ? stays.length : at, 0, ...addedNodes);
            group.theirs = stays;
            for (const node of gone) group.texts.delete(node);
            if ([...addedNodes].some((node) => before.get(group).has(node))) group.moved = true;
        }
    };
    const observer = new MutationObserver(replay);
    const restore = (group, parent) => {
        let next = null;
        for (const node of group.theirs.toReversed()) {
            if (node.parentNode !== parent) continue;
            if (node.nextSibling !== next) move(node, next, parent);
            next = node;
        }
    };
    // A page that sorts moves parts, or writes into each what another said.
    const heed = (parent) => {
        const group = groups.get(parent);
        if (group.left) return;
        const rewritten = [...group.texts].filter(([item, text]) => item.textContent !== text).map(([item]) => item);
        const said = new Set(group.texts.values());
        if (group.moved || (rewritten.length > 1 && rewritten.some((item) => said.has(item.textContent)))) {
            restore(group, parent);
            group.left = true;
        } else if (rewritten.length > 1 && allows(parent)) {
            restore(group, parent);
            groups.delete(parent);
        } else for (const item of rewritten) group.texts.set(item, item.textContent);
    };
    // Return the groups around and in what was drawn.
    const parentsOf = (roots) => {
        const parents = found(roots, LISTS);
        for (const item of found(roots, `${CARDS},${LINKS}`)) if (item.parentElement) parents.add(item.parentElement);
        for (const label of found(roots, "form label")) {
            let row = label;
            while (!row.matches("form,fieldset") && row.parentElement.querySelectorAll("label").length === 1) row = row.parentElement;
            const fields = row.matches("form,fieldset") ? [] : row.querySelectorAll(FIELDS);
            if (fields.length !== 1 || fields[0].maxLength === 1) continue;
            rows.add(row);
            parents.add(row.parentElement);
        }
        return parents;
    };
    watch((roots) => {
        replay(observer.takeRecords());
        const known = new Set();
        for (const root of roots) {
            for (let at = root; at; at = at.parentElement) if (groups.has(at)) known.add(at);
        }
        known.forEach(heed);
        const parents = [...new Set([...parentsOf(roots), ...known])].filter((parent) => parent.isConnected);
        // All is looked at before anything moves: to look at styles after a move costs a new layout.
        const fresh = parents.map((parent) => [parent, freshIn(parent)]);
        for (const [parent, runs] of fresh) runs.forEach((run) => permute(run, parent));
        observer.takeRecords();
    });
}
