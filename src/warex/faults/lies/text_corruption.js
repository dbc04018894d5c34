// Has the proxy change some of the texts that the page shows, and keeps them so while the page draws
// itself anew.
(settings, {tell, inquire, isReady, whenSeen, later, often}) => {
    // Milliseconds after which a page that draws itself is expected to have done so, and between looks.
    const SETTLED = 1500, EVERY = 200;
    const unseen = "script, style, title, textarea, noscript, template, noframes, iframe, noembed, object, canvas, datalist, select";
    // Of each text that was changed, what it was and what it is.
    const changed = new WeakMap();
    let last = "", isBusy = false, isDirty = true, hasChanged = false, hasShown = false;
    const texts = () => {
        const found = [], walker = document.createTreeWalker(document.body || document.documentElement, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode, holder = node.parentElement;
            if (!holder || !node.data.trim() || holder.closest(unseen)) continue;
            if (holder.checkVisibility({visibilityProperty: true, opacityProperty: true}) && isReady(node)) found.push(node);
        }
        return found;
    };
    const truth = (node) => {
        const change = changed.get(node);
        return change && change.put === node.data ? change.was : node.data;
    };
    const look = () => {
        if (isBusy || !(isDirty || !hasShown)) return;
        isDirty = false;
        const nodes = texts(), said = nodes.map(truth), asked = JSON.stringify(said);
        if (asked === last) return;
        isBusy = true;
        inquire("texts", asked).then((answer) => {
            last = asked;
            for (const [at, put] of answer) {
                // What has changed in between is looked at again.
                if (truth(nodes[at]) !== said[at]) last = "";
                else {
                    changed.set(nodes[at], {was: said[at], put});
                    if (nodes[at].data !== put) nodes[at].data = put;
                    const node = nodes[at];
                    if (!node.isConnected || hasShown) continue;
                    hasChanged = true;
                    whenSeen(node.parentElement, () => {
                        hasShown = true;
                        tell("shown");
                    }, {anywhere: true, stands: () => node.isConnected && node.data === put});
                }
            }
        }).catch(() => {}).then(() => { isBusy = false; });
    };
    new MutationObserver(() => { isDirty = true; }).observe(document, {childList: true, subtree: true, characterData: true, attributes: true});
    look();
    often(look, EVERY);
    later(() => {
        if (!hasChanged) tell("nothing");
    }, SETTLED);
}
