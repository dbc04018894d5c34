// What a person reads as one text, though a framework holds it in several nodes.
(settings, kit) => {
    const {natives} = kit;
    const MOST = 8, NEAR = 0.45, SPACE = 0.12, ALIGNED = 0.3;
    const UNREAD = "script,style,textarea,code,pre,svg,template,noscript,select";
    // A picture whose name is a text, and what is said to nobody who listens.
    const PICTURES = "[aria-hidden=true],[class*=icon i],[class*=symbol i],i[class]";
    const INLINE = /^(?:inline|contents|ruby)/;
    const changes = new WeakMap();
    // What the page itself wrote.
    const truth = (node) => {
        const change = changes.get(node);
        return change && change.put === node.data ? change.was : node.data;
    };
    const put = (node, text) => {
        changes.set(node, {was: truth(node), put: text});
        if (node.data !== text) node.data = text;
    };
    const isInline = (element) => INLINE.test(natives.styled(natives.style(element), "display"));
    const endsLine = (node, around) => {
        for (let at = node.parentElement; at && at !== around && around.contains(at); at = at.parentElement) if (!isInline(at)) return true;
        return false;
    };
    const boxesOf = (node) => {
        const range = natives.range(document);
        natives.select(range, node);
        return range.getClientRects();
    };
    // What stands between two texts that are laid out side by side as one; null where they are two.
    const between = (before, after) => {
        const ones = boxesOf(before), others = boxesOf(after);
        if (!ones.length || !others.length) return null;
        const one = ones[ones.length - 1], other = others[0];
        const size = Math.min(one.height, other.height);
        const overlap = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        const gap = Math.max(other.left - one.right, one.left - other.right);
        if (overlap < ALIGNED * size || gap < -ALIGNED * size || gap > NEAR * Math.max(one.height, other.height)) return null;
        return gap > SPACE * size ? " " : "";
    };
    const joined = (parts) => {
        let says = "";
        const placed = parts.map(({node, data, join}, nth) => {
            if (nth) says += join;
            says += data;
            return {node, at: says.length - data.length, size: data.length};
        });
        return {says, parts: placed};
    };
    // Return the texts of an element: each a list of the nodes that hold it.
    const runsIn = (element) => {
        const walker = natives.textsIn(document, element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
        const runs = [];
        let last = null, isApart = false, space = "";
        while (walker.nextNode()) {
            const node = walker.currentNode;
            if (node.nodeType === Node.ELEMENT_NODE) {
                isApart = isApart || node.localName === "br" || !isInline(node);
                continue;
            }
            const holder = node.parentElement;
            if (holder.closest(UNREAD)) continue;
            const data = truth(node);
            if (!data.trim()) {
                if (data) space = " ";
                continue;
            }
            const isPicture = holder !== element && holder.closest(PICTURES) && element.contains(holder.closest(PICTURES));
            const range = last && natives.range(document);
            if (last) {
                range.setStart(last, 0);
                range.setEnd(node, 0);
            }
            const isOneLine = last && !isApart && !endsLine(last, range.commonAncestorContainer) && !endsLine(node, range.commonAncestorContainer);
            const join = !last || isPicture ? null : isOneLine ? space : between(last, node);
            if (join === null) runs.push([]);
            runs.at(-1).push({node, data, join});
            last = isPicture ? null : node;
            isApart = false;
            space = "";
        }
        return runs;
    };
    // Whether a part of a run is a text of its own: no word of the others goes on with it.
    const isWhole = (before, says, after) => {
        const [first] = /\p{L}/u.exec(says) || [""];
        const goesOn = /^\s*\p{Ll}/u.test(after) || (/\p{L}$/u.test(says) && /^\p{L}/u.test(after));
        const isGoneOn = /\p{L}$/u.test(before) || (/\p{L}\s+$/u.test(before) && first === first.toLowerCase());
        return !goesOn && !isGoneOn;
    };
    // Return the parts of a run that may be a text of their own, the longest first.
    const textsOf = (run) => {
        const ranges = [];
        for (let size = run.length; size > 0; size--) {
            if (run.length > MOST && size > 1 && size < run.length) continue;
            for (let from = 0; from + size <= run.length; from++) ranges.push([from, from + size]);
        }
        return ranges.map(([from, to]) => {
            const {says, parts} = joined(run.slice(from, to));
            const before = from ? joined(run.slice(0, from)).says + run[from].join : "";
            const after = to < run.length ? run[to].join + joined(run.slice(to)).says : "";
            return {says, parts, from, to, isWhole: isWhole(before, says, after)};
        }).filter((text) => text.isWhole);
    };
    // Return what each node is to hold, so that other words stand for a stretch of their joint text:
    // word by word, and letter by letter where several nodes hold one word.
    const spread = ({says, parts}, start, end, given) => {
        const held = parts.filter(({at, size}) => at < end && at + size > start).map(({node, at, size}) => {
            const text = says.slice(at, at + size);
            const from = at < start ? start - at : text.length - text.trimStart().length;
            const to = at + size > end ? end - at : text.trimEnd().length;
            return {node, text, from, to, core: text.slice(from, to), at};
        });
        const units = [];
        held.forEach((part, nth) => {
            const before = held[nth - 1];
            if (!before || /\s/.test(says.slice(before.at + before.to, part.at + part.from))) units.push([]);
            units.at(-1).push(part);
        });
        const words = given.split(/\s+/), counts = units.map((unit) => unit.map(({core}) => core).join("").split(/\s+/).length);
        const all = counts.reduce((sum, count) => sum + count, 0);
        let seen = 0, taken = 0;
        const texts = new Map();
        units.forEach((unit, nth) => {
            seen += counts[nth];
            const upTo = nth === units.length - 1 ? words.length : Math.max(1, Math.round(words.length * seen / all));
            let left = words.slice(taken, upTo).join(" ");
            taken = upTo;
            unit.forEach(({node, text, from, to, core}, place) => {
                const share = place === unit.length - 1 ? left : left.slice(0, core.length);
                left = left.slice(share.length);
                texts.set(node, text.slice(0, from) + share + text.slice(to));
            });
        });
        return texts;
    };
    return {...kit, runsIn, textsOf, spread, put};
}
