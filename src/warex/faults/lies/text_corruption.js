// Has the proxy change some of the texts that the page shows, and keeps them so while the page draws
// itself anew. What a person reads as one text is one, however many nodes hold it.
(settings, {tell, inquire, isReady, whenSeen, later, often}) => {
    // Milliseconds after which a page that draws itself is expected to have done so, and between looks.
    const SETTLED = 1500, EVERY = 200;
    const LONGEST = 2000, MOST_NODES = 20000;
    const unseen = "script, style, title, textarea, noscript, template, noframes, iframe, noembed, object, canvas, datalist, select";
    const CENTS = /cent|fraction|decimal|minor/i;
    // Of each node or element with a label that was changed, what it was and what it is.
    const changed = new WeakMap(), observed = new WeakSet();
    let last = "", isBusy = false, isDirty = true, hasChanged = false, hasShown = false;
    const textOf = (owner) => owner.nodeType === Node.TEXT_NODE ? owner.data : owner.getAttribute("aria-label");
    const truth = (owner) => {
        const change = changed.get(owner), text = textOf(owner);
        return change && change.put === text ? change.was : text;
    };
    const put = (owner, text) => {
        changed.set(owner, {was: truth(owner), put: text});
        if (textOf(owner) === text) return;
        if (owner.nodeType === Node.TEXT_NODE) owner.data = text;
        else owner.setAttribute("aria-label", text);
    };
    // Yield the visible texts and labels of a tree and of its open shadow trees, in order.
    const owners = function* (root) {
        if (!observed.has(root)) {
            observed.add(root);
            observer.observe(root, {childList: true, subtree: true, characterData: true, attributes: true});
        }
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
        const isShown = (element) => element.checkVisibility({visibilityProperty: true, opacityProperty: true});
        while (walker.nextNode()) {
            const node = walker.currentNode;
            if (node.nodeType === Node.ELEMENT_NODE) {
                if (node.hasAttribute("aria-label") && isShown(node) && isReady(node)) yield node;
                if (node.shadowRoot) yield* owners(node.shadowRoot);
                continue;
            }
            const holder = node.parentElement || node.getRootNode().host;
            if (!holder || !node.data.trim() || holder.closest(unseen)) continue;
            if (isShown(holder) && isReady(node)) yield node;
        }
    };
    // Return the first and the last box of a text without the spaces at its ends.
    const boxOf = (node) => {
        const range = document.createRange(), {data} = node;
        range.setStart(node, data.length - data.trimStart().length);
        range.setEnd(node, data.trimEnd().length);
        const boxes = range.getClientRects();
        return boxes.length ? [boxes[0], boxes[boxes.length - 1]] : null;
    };
    // What stands between two texts that a person reads as one; null where they are two.
    const between = (before, after, text) => {
        if (!before || !after) return null;
        const one = before[1], two = after[0];
        const overlap = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        // Below 0 they lie on each other, as the texts for eyes and for screen readers do.
        const gap = Math.max(two.left - one.right, one.left - two.right);
        const size = Math.min(one.height, two.height);
        if (overlap < 0.3 * size || gap < -0.3 * size || gap > 0.45 * Math.max(one.height, two.height)) return null;
        const {node, shown} = text;
        const holder = node.parentElement;
        const isSmall = two.height < 0.85 * one.height || (holder && (holder.closest("sup") || CENTS.test(holder.className)));
        if (/\d\s*$/.test(text.before) && /^\s*\d{2}\s*$/.test(shown) && isSmall) return ".";
        return gap > 0.12 * size ? " " : "";
    };
    // Return the texts as a person reads them: what they say, and which part of it each owner holds.
    const texts = () => {
        const found = [];
        let open = null, box = null, count = 0;
        for (const owner of owners(document.body || document.documentElement)) {
            if (++count > MOST_NODES) break;
            const shown = truth(owner);
            if (owner.nodeType === Node.ELEMENT_NODE) {
                found.push({owner, says: shown, parts: [{owner, from: 0, at: 0, size: shown.length}]});
                continue;
            }
            const own = boxOf(owner);
            const start = shown.length - shown.trimStart().length, core = shown.trim();
            const join = open && open.says.length < LONGEST ? between(box, own, {node: owner, shown, before: open.says}) : null;
            if (join === null) {
                open = {owner, says: "", parts: []};
                found.push(open);
            } else if (join === "." || !/\s$/.test(open.says)) open.says += join;
            open.parts.push({owner, from: start, at: open.says.length, size: core.length});
            open.says += core;
            box = own;
        }
        return found;
    };
    // A label, or a text for screen readers, says the same as the text beside it: they are one.
    const grouped = (found) => {
        const digits = (text) => text.replace(/\D/g, "");
        const elementOf = ({owner}) => owner.nodeType === Node.TEXT_NODE ? owner.parentElement : owner;
        let group = 0;
        return found.map((text, at) => {
            const before = found.slice(Math.max(0, at - 3), at).reverse(), own = digits(text.says), element = elementOf(text);
            const isSame = own && element && before.some((other) => {
                if (digits(other.says) !== own) return false;
                const beside = elementOf(other);
                if (!beside) return false;
                if (other.owner === beside) return beside.contains(element) || beside.nextElementSibling === element;
                for (let around = beside; around; around = around.parentElement) {
                    if (around.contains(element)) return digits(around.textContent) === own + own;
                }
                return false;
            });
            if (!isSame) group += 1;
            return group;
        });
    };
    // Put an edit of a joint text into the owners that hold it. Where it has another length, the
    // first of them takes the difference.
    const spread = (text, [start, end, given], texts) => {
        const parts = text.parts.filter(({at, size}) => at < end && at + size > start);
        let from = 0;
        const isAlike = given.length === end - start;
        parts.forEach((part, nth) => {
            const begin = Math.max(start, part.at), stop = Math.min(end, part.at + part.size);
            let share;
            if (isAlike) share = given.slice(begin - start, stop - start);
            else {
                const after = end - stop;
                share = given.slice(from, nth === parts.length - 1 ? undefined : Math.max(from, given.length - after));
                from += share.length;
            }
            const edits = texts.get(part.owner) || [];
            edits.push([part.from + begin - part.at, part.from + stop - part.at, share]);
            texts.set(part.owner, edits);
        });
    };
    const look = () => {
        if (isBusy || !(isDirty || !hasShown)) return;
        isDirty = false;
        const found = texts(), groups = grouped(found);
        const asked = JSON.stringify(found.map(({says}, at) => [says, groups[at]]));
        if (asked === last) return;
        isBusy = true;
        const was = new Map(found.flatMap(({parts}) => parts.map(({owner}) => [owner, truth(owner)])));
        inquire("texts", asked).then((answer) => {
            last = asked;
            const edited = new Map();
            for (const [at, edits] of answer) for (const edit of edits) spread(found[at], edit, edited);
            for (const [owner, edits] of edited) {
                // What has changed in between is looked at again.
                if (truth(owner) !== was.get(owner)) {
                    last = "";
                    continue;
                }
                let text = was.get(owner);
                for (const [start, end, share] of edits.sort((one, two) => two[0] - one[0])) text = text.slice(0, start) + share + text.slice(end);
                put(owner, text);
                if (!owner.isConnected || hasShown) continue;
                hasChanged = true;
                const holder = owner.nodeType === Node.ELEMENT_NODE ? owner : owner.parentElement || owner.getRootNode().host, given = text;
                whenSeen(holder, () => {
                    hasShown = true;
                    tell("shown");
                }, {anywhere: true, stands: () => owner.isConnected && textOf(owner) === given});
            }
        }).catch(() => {}).then(() => { isBusy = false; });
    };
    const observer = new MutationObserver(() => { isDirty = true; });
    observer.observe(document, {childList: true, subtree: true, characterData: true, attributes: true});
    look();
    often(look, EVERY);
    later(() => {
        if (hasChanged) return;
        const drawn = [...document.querySelectorAll("canvas")].some((it) => it.checkVisibility() && it.clientWidth * it.clientHeight > 2500);
        tell("nothing", null, drawn ? "canvas" : "");
    }, SETTLED);
}
