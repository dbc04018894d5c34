// Alike parts of a group change places. A part stays a child of its parent and gets the place of
// another, so that frameworks find it where they look. Where the page itself puts parts in an order,
// its order comes back and stays.
({strength}, {watch, may, allows, changed, note, luck, found, natives}) => {
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
    const TOTAL = /\b(?:sub)?total\b|to pay|amount due|altogether|summe|gesamt|totale|totaal|\u0438\u0442\u043e\u0433|\u5408\u8a08|\u5408\u8ba1/i;
    const ENUMERATED = /^(step|chapter|lesson|part|day|week|month|phase|level|season|episode|round|stage|unit|section)\s*\d/i;
    const DATE = /\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b/i;
    // A control by which the page sorts, or the sign of a sorted column.
    const SORTED = "select[name*=sort i],select[id*=sort i],[class*=sort i],[aria-label*=sort i],[class*=-asc],[class*=-desc]";
    const STATE = /^(active|selected|current|first|last|odd|even|new|featured|is-.*|has-.*)$|\d/i;
    const CONTENT = "a[href],button,img,h1,h2,h3,h4,h5,h6";
    // The least number that is in order on purpose, where nothing says so, and the most pixels of a card.
    const BY_CHANCE = 5, TALLEST = 900;
    const groups = new WeakMap(), rows = new WeakSet(), grids = new WeakSet();
    const textOf = (item) => item.textContent.replace(/\s+/g, " ").trim();
    // What a card is called.
    const nameOf = (item) => {
        const named = item.querySelector("h1,h2,h3,h4,h5,h6") || item.querySelector("a[href]");
        return named && textOf(named) ? textOf(named) : textOf(item);
    };
    const goesOneWay = (values, compare) => {
        const steps = values.slice(1).map((value, at) => Math.sign(compare(values[at], value)));
        return steps.some((it) => it) && (steps.every((it) => it <= 0) || steps.every((it) => it >= 0));
    };
    const numbersOf = (column) => {
        const numbers = column.map((said) => said && NUMBER.exec(said));
        return numbers.every(Boolean) ? numbers.map(([said]) => Number(said.replace(/,/g, ""))) : null;
    };
    // Whether a column of at least so many is in the order of its numbers.
    const isByNumber = (column, least) => {
        const numbers = column.length >= least && numbersOf(column);
        return Boolean(numbers) && goesOneWay(numbers, (a, b) => a - b);
    };
    // Whether names are in alphabetical order; those that only count on (Item 1, Item 2) are in none.
    const isByName = (column, least) => {
        if (column.length < least || !column.every(Boolean)) return false;
        let shared = column[0].length;
        for (const said of column) while (said.slice(0, shared) !== column[0].slice(0, shared)) shared -= 1;
        if (shared && column.every((said) => /^\W?\w{0,2}(\W|$)/.test(said.slice(shared)))) return false;
        return goesOneWay(column, (a, b) => a.localeCompare(b, "en", {numeric: true}));
    };
    const isCounted = (column) => {
        const numbers = column.every((said) => /^[#(]?\d/.test(said) || ENUMERATED.test(said)) && numbersOf(column);
        return Boolean(numbers) && numbers.length > 2 && goesOneWay(numbers, (a, b) => a - b);
    };
    const saysSorted = (first) => {
        const around = first.closest("table") || first.closest("section,main,[role=main]") || document.body;
        return around.querySelector(SORTED) !== null;
    };
    const isRowsInOrder = (items) => {
        const columns = [...items[0].cells].map((_, at) => items.map((row) => textOf(row.cells[at])));
        const least = saysSorted(items[0]) ? 3 : BY_CHANCE;
        if (columns.some((column) => isByNumber(column.map((said) => DATE.test(said) ? said.replace(/\D/g, "") : ""), 3))) return true;
        const [first] = columns, counted = numbersOf(first);
        if (counted && counted.every((number, at) => number === at + 1)) return true;
        return columns.some((column, at) => isByNumber(column, least) || (at < 2 && isByName(column, least)));
    };
    // Days, pages and the like, some of which may say more.
    const isOfNumbers = (texts) => 5 * texts.filter((text) => /^\P{L}*\d\P{L}*$/u.test(text) && !PRICE.test(text)).length >= 4 * texts.length;
    // Amounts of which one is what the others come to.
    const isBill = (texts) => {
        const amounts = texts.length > 1 && numbersOf(pricesOf(texts).map((said) => said.replace(/[^\d.,]/g, "").replace(/[.,](?=\d{2}$)/, ".")));
        if (!amounts) return false;
        const most = Math.max(...amounts), rest = amounts.reduce((sum, amount) => sum + amount, -most);
        return texts.some((text) => TOTAL.test(text)) || (texts.length > 2 && Math.abs(most - rest) < 0.005);
    };
    const pricesOf = (texts) => texts.map((text) => (PRICE.exec(text) || [""])[0]);
    const hasMeaning = (items) => {
        const texts = items.map(textOf), first = items[0];
        const starts = (shape) => texts.filter((text) => shape.test(text)).length > 1;
        if (starts(SCALE) || (first.matches("option") && starts(/^\d/))) return true;
        if (items.some((item) => item.matches(PLACED)) || natives.styled(natives.style(first), "position") === "absolute") return true;
        if (2 * items.filter((item) => item.querySelector("time")).length >= items.length) return true;
        if (isOfNumbers(texts) || isBill(texts)) return true;
        if (first.closest("nav,[role=navigation],header,footer") || rows.has(first)) return false;
        if (first.matches("tr")) return isRowsInOrder(items);
        if (isCounted(texts)) return true;
        const names = items.map(nameOf);
        if (first.matches("li,[role=listitem],option") && !first.querySelector("img")) return isByName(texts, 4) || isByNumber(pricesOf(texts), 3);
        const least = saysSorted(first) ? 3 : BY_CHANCE;
        return isCounted(names) || isByName(names, least) || isByNumber(pricesOf(texts), least);
    };
    // What is laid out as cards: boxes of one size, beside or below each other.
    const isCards = (items) => {
        const boxes = items.map((item) => item.getBoundingClientRect());
        const spread = (sizes) => Math.max(...sizes) / Math.max(1, Math.min(...sizes));
        const [widths, heights] = [boxes.map(({width}) => width), boxes.map(({height}) => height)];
        if (Math.min(...widths, ...heights) < 10 || Math.max(...heights) > TALLEST) return false;
        const isBeside = boxes.slice(1).some(({top}, at) => Math.abs(top - boxes[at].top) < 5);
        return spread(widths) < 1.2 && (isBeside || (spread(heights) < 2 && Math.max(...heights) < TALLEST / 3));
    };
    const lookOf = (item) => [item.localName, ...[...item.classList].filter((it) => !STATE.test(it)).sort()].join(" ");
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
        if (item.matches("a[href]") && parent.closest(NAV)) return "link";
        if (item.matches(CARDS) && !item.matches("a[href]")) return holds.some(Boolean) ? `${item.localName} ${item.classList[0]}` : null;
        return grids.has(parent) && textOf(item) && (item.matches("a[href]") || item.querySelector(CONTENT)) ? `card ${lookOf(item)}` : null;
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
    // What names each part, whatever its numbers are today; those of one name are told apart by where
    // they lead, or else by all that they say.
    const keysOf = (items) => {
        const names = items.map((item) => textOf(item).replace(/[^\p{L}]+/gu, " ").slice(0, 200));
        const used = new Set();
        return new Map(items.map((item, at) => {
            const link = item.matches("a[href]") ? item : item.querySelector("a[href]");
            const more = [link && link.getAttribute("href"), textOf(item).slice(0, 200), at];
            let key = names[at];
            if (!key || names.filter((name) => name === key).length > 1) key = [key, ...more].find((it) => it && !used.has(`${it}`) && it !== key) ?? `${key} ${at}`;
            used.add(`${key}`);
            return [item, `${key}`];
        }));
    };
    const permute = (items, parent) => {
        const keys = keysOf(items);
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
        const isFree = (run) => run.length > 1 && !hasMeaning(run) && (!grids.has(parent) || !likeness(run[0], parent).startsWith("card ") || isCards(run));
        return runs.filter(isFree);
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
        // What holds several of one look, each with a link, a picture or a heading, may be a grid of cards.
        const seen = new Set();
        for (const part of found(roots, CONTENT)) {
            for (let item = part, depth = 0; item.parentElement && depth < 6; item = item.parentElement, depth++) {
                const parent = item.parentElement;
                if (seen.has(parent)) break;
                seen.add(parent);
                if (parent.childElementCount < 3 || parent.matches("tr,tbody,table,ul,ol,menu,select,nav,header,footer,form,p,html,body,h1,h2,h3,h4,h5,h6") || parent.closest("nav,[role=navigation],header,footer,svg")) continue;
                const look = lookOf(item);
                if ([...parent.children].filter((other) => lookOf(other) === look).length < 3) continue;
                grids.add(parent);
                parents.add(parent);
            }
        }
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
