// What a changed site is made with: what is drawn, now and later, is given to be changed once it is
// safe to; one seed chooses the same on each page; what was changed is reported once it is visible.
(settings, kit) => {
    const {tell, isReady} = kit;
    const BATCHES = 100, CHANGES = 5, LOOK = 200, SETTLED = 1500;
    // A number from 0 to below 1 that depends on the seed and the words alone (FNV-1a, mixed).
    const luck = (...about) => {
        let sum = 2166136261 ^ settings.seed;
        for (const unit of about.join("\n")) sum = Math.imul(sum ^ unit.codePointAt(0), 16777619);
        sum = Math.imul(sum ^ (sum >>> 16), 2246822507);
        sum = Math.imul(sum ^ (sum >>> 13), 3266489909);
        return ((sum ^ (sum >>> 16)) >>> 0) / 4294967296;
    };
    const own = new WeakSet(), counts = new WeakMap(), unseen = new Set(), waiting = new Set();
    const passes = [];
    let reported = false, changes = 0, timer = null;
    const isOwn = (element) => {
        for (let at = element; at; at = at.parentElement) if (own.has(at)) return true;
        return false;
    };
    // Whether an element may be changed now. One that a framework has not taken over yet comes again.
    const may = (element) => {
        if (!element.isConnected || isOwn(element) || element.isContentEditable) return false;
        if (isReady(element)) return true;
        waiting.add(element);
        wake();
        return false;
    };
    // A page that undoes a change again and again has the last word, for a second.
    const allows = (node) => {
        const now = performance.now(), found = counts.get(node);
        if (!found || now - found.since > 1000) counts.set(node, {since: now, count: 1});
        else if (++found.count > CHANGES) return false;
        return true;
    };
    const isVisible = (element) => {
        const box = element.getBoundingClientRect();
        if (!element.isConnected || box.width === 0 || box.height === 0) return false;
        return element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
    };
    const look = () => {
        if (reported) return;
        for (const element of unseen) {
            if (!element.isConnected) unseen.delete(element);
            else if (isVisible(element)) {
                reported = true;
                unseen.clear();
                tell("shown");
                return;
            }
        }
    };
    // Say that an element is changed.
    const changed = (element) => {
        changes += 1;
        if (reported) return;
        unseen.add(element);
        wake();
    };
    const wake = () => {
        if (timer === null) timer = setTimeout(tick, LOOK);
    };
    const tick = () => {
        timer = null;
        look();
        const ready = [...waiting].filter((element) => !element.isConnected || isReady(element));
        for (const element of ready) waiting.delete(element);
        for (const pass of passes) pass(ready);
        if (waiting.size || (unseen.size && !reported)) wake();
    };
    // Give ``apply`` what has been drawn, as elements with all that is in them, now and whenever the
    // page draws or one of the attributes is set. What it changes itself is not given to it.
    const watch = (apply, attributes = []) => {
        const fresh = new Set();
        let since = 0, batches = 0, late = null;
        const take = (records) => {
            for (const {type, target, addedNodes} of records) {
                if (type === "attributes") fresh.add(target);
                else if (type === "characterData" && target.parentElement) fresh.add(target.parentElement);
                for (const node of addedNodes) {
                    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
                    if (element) fresh.add(element);
                }
            }
        };
        const pass = (more) => {
            for (const element of more) fresh.add(element);
            const now = performance.now();
            if (now - since > 1000) [since, batches] = [now, 0];
            // Two that answer each other's changes at once would let the page do nothing else.
            if (++batches > BATCHES) {
                if (late === null) late = setTimeout(() => { late = null; pass([]); }, 1000);
                return;
            }
            take(observer.takeRecords());
            const roots = [...fresh].filter((element) => element.isConnected);
            fresh.clear();
            apply(roots);
            observer.takeRecords();
            look();
        };
        const observer = new MutationObserver((records) => {
            take(records);
            pass([]);
        });
        const start = () => {
            const filter = attributes.length ? {attributes: true, attributeFilter: attributes} : {};
            observer.observe(document, {childList: true, subtree: true, characterData: true, ...filter});
            passes.push(pass);
            pass([document.documentElement]);
            setTimeout(() => {
                if (!changes) tell("nothing");
            }, SETTLED);
        };
        // After what the page does at its load.
        if (window.requestIdleCallback) window.requestIdleCallback(start, {timeout: 500});
        else setTimeout(start, 100);
    };
    // Return an element of ours: it is not changed, and does not count as the page's.
    const make = (...given) => {
        const element = kit.make(...given);
        own.add(element);
        return element;
    };
    // Return all that fits a selector in what was drawn, and around it.
    const found = (roots, selector) => {
        const all = new Set();
        for (const root of roots) {
            const around = root.closest(selector);
            if (around) all.add(around);
            for (const element of root.querySelectorAll(selector)) all.add(element);
        }
        return all;
    };
    return {...kit, make, luck, watch, may, allows, changed, isVisible, found};
}
