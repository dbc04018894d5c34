// What a changed site is made with: what is drawn, now and later, is given to be changed once it is
// safe to; one seed chooses the same on each page; what was changed is reported once it is visible.
(settings, kit) => {
    const {tell, isReady, whenSeen, keep, later, often, now} = kit;
    const BATCHES = 100, CHANGES = 5, LOOK = 200, SETTLED = 1500, FOUGHT = 5000, MOST_WATCHED = 60, LOOK_DEEPER = 500;
    // A number from 0 to below 1 that depends on the seed and the words alone (FNV-1a, mixed).
    const luck = (...about) => {
        let sum = 2166136261 ^ settings.seed;
        for (const unit of about.join("\n")) sum = Math.imul(sum ^ unit.codePointAt(0), 16777619);
        sum = Math.imul(sum ^ (sum >>> 16), 2246822507);
        sum = Math.imul(sum ^ (sum >>> 13), 3266489909);
        return ((sum ^ (sum >>> 16)) >>> 0) / 4294967296;
    };
    const own = new WeakSet(), counts = new WeakMap(), unseen = new Map(), waiting = new Set();
    const passes = [];
    let reported = false, changes = 0, timer = null, isFought = false;
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
        const at = now(), found = counts.get(node);
        if (!found || at - found.since > 1000) counts.set(node, {since: at, count: 1});
        else if (++found.count > CHANGES) {
            isFought = true;
            return false;
        }
        return true;
    };
    const shown = () => {
        if (reported) return;
        reported = true;
        for (const end of unseen.values()) end();
        unseen.clear();
        tell("shown");
    };
    // Say that an element is changed, as long as `stands` holds, and what of it.
    const changed = (element, stands = () => true) => {
        changes += 1;
        if (reported) return;
        for (const [other, end] of unseen) {
            if (other.isConnected && other !== element && unseen.size < MOST_WATCHED) continue;
            end();
            unseen.delete(other);
        }
        unseen.set(element, whenSeen(element, shown, {anywhere: true, stands}));
    };
    // Add an element, and keep it in the page where `place` puts it.
    const add = (element, place) => {
        changes += 1;
        return keep(element, "shown", place);
    };
    const wake = () => {
        if (timer === null) timer = later(tick, LOOK);
    };
    const tick = () => {
        timer = null;
        const ready = [...waiting].filter((element) => !element.isConnected || isReady(element));
        for (const element of ready) waiting.delete(element);
        for (const pass of passes) pass(ready);
        if (waiting.size) wake();
    };
    // Give ``apply`` what has been drawn, as elements with all that is in them, now and whenever the
    // page draws or one of the attributes is set. What it changes itself is not given to it. With
    // `isDeep`, what is in open shadow trees is given, too.
    const watch = (apply, {attributes = [], isDeep = false} = {}) => {
        const fresh = new Set(), trees = new WeakSet();
        const filter = attributes.length ? {attributes: true, attributeFilter: attributes} : {};
        const observe = (root) => observer.observe(root, {childList: true, subtree: true, characterData: true, ...filter});
        // Return the shadow trees in some parts of the page that are not watched yet.
        const deeper = (roots) => {
            const added = [];
            for (const root of roots) {
                for (const element of [root, ...root.querySelectorAll("*")]) {
                    const tree = element.shadowRoot;
                    if (!tree || trees.has(tree)) continue;
                    trees.add(tree);
                    observe(tree);
                    added.push(tree, ...deeper([tree]));
                }
            }
            return added;
        };
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
            const at = now();
            if (at - since > 1000) [since, batches] = [at, 0];
            // Two that answer each other's changes at once would let the page do nothing else.
            if (++batches > BATCHES) {
                if (late === null) late = later(() => { late = null; pass([]); }, 1000);
                return;
            }
            take(observer.takeRecords());
            const roots = [...fresh].filter((element) => element.isConnected);
            fresh.clear();
            apply(isDeep ? [...roots, ...deeper(roots)] : roots);
            observer.takeRecords();
        };
        const observer = new MutationObserver((records) => {
            take(records);
            pass([]);
        });
        const start = () => {
            observe(document);
            // A shadow tree that is attached draws nothing that an observer is told of.
            if (isDeep) {
                often(() => {
                    const added = deeper([document.documentElement]);
                    if (added.length) pass(added);
                }, LOOK_DEEPER);
            }
            passes.push(pass);
            pass([document.documentElement]);
            later(() => {
                if (!changes) tell("nothing");
            }, SETTLED);
            later(() => {
                if (isFought && !reported) tell("removed_by_page");
            }, FOUGHT);
        };
        // After what the page does at its load.
        if (window.requestIdleCallback) window.requestIdleCallback(start, {timeout: 500});
        else later(start, 100);
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
            const around = root.closest && root.closest(selector);
            if (around) all.add(around);
            for (const element of root.querySelectorAll(selector)) all.add(element);
        }
        return all;
    };
    return {...kit, make, luck, watch, may, allows, changed, add, found};
}
