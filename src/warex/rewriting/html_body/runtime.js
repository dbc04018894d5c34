// Runs before any script of the page. What it adds survives a page that draws itself anew, and it
// tells the proxy once of each thing that happens.
(settings, change) => {
    "use strict";
    // As the browser has them: a page may put others in their place, and lead relative addresses away.
    const {fetch: ask, setTimeout: later, setInterval: often, clearInterval: stop} = window;
    const report = location.origin + settings.report;
    const own = document.currentScript, told = new Set();
    if (own) own.remove();
    const tell = (what, detail) => {
        if (told.has(what)) return;
        told.add(what);
        const body = detail ? `${what}\n${detail}` : what;
        const sent = {method: "POST", body, mode: "no-cors", credentials: "omit", keepalive: true};
        ask(report, sent).catch(() => {});
    };
    // Ask the proxy something, at the address at which it is told.
    const inquire = (what, text) => {
        const sent = {method: "POST", body: `${what}\n${text}`, credentials: "omit"};
        return ask(report, sent).then((answer) => answer.json());
    };
    const make = (tag, style, text) => {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value);
        if (text) element.textContent = text;
        return element;
    };
    // Whether a person who looks at the page sees the middle of an element.
    const isSeen = (element) => {
        const box = element.getBoundingClientRect();
        if (!element.isConnected || box.width === 0 || box.height === 0) return false;
        const found = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        return found !== null && element.contains(found);
    };
    // Whether an element has its place in the page as laid out, wherever the page is scrolled to.
    const isLaidOut = (element) => {
        const box = element.getBoundingClientRect();
        return element.checkVisibility({visibilityProperty: true, opacityProperty: true}) && box.width > 0 && box.height > 0;
    };
    const marked = (node, name) => Object.keys(node).some((key) => key.startsWith(name));
    // React compares what a server drew with what it would draw, until it has marked it.
    const isUnclaimed = (node) => {
        for (let at = node.previousSibling; at; at = at.previousSibling) {
            if (at.nodeType !== Node.COMMENT_NODE) continue;
            if (at.data === "/$") return false;
            if (at.data.startsWith("$")) return true;
        }
        return false;
    };
    // Whether an element may be changed: no framework is still to take it over.
    const isReady = (element) => {
        for (let at = element; at && at.parentNode; at = at.parentNode) {
            if (marked(at, "__reactFiber$")) return true;
            if (marked(at.parentNode, "__reactContainer$")) return false;
            if (marked(at.parentNode, "__reactFiber$")) return !isUnclaimed(at);
        }
        return true;
    };
    const watched = [];
    // Keep an element in the page until it is let go, and say when it is seen. With `place`, which
    // puts it among the page's own parts as soon as they are ready, it is seen once it is laid out.
    const keep = (element, what, place) => {
        const entry = {element, what, there: true};
        const look = () => {
            if (!entry.there) return;
            if (!element.isConnected && document.body) place ? place() : document.body.append(element);
            if (place ? isLaidOut(element) : isSeen(element)) tell(what);
        };
        watched.push(look);
        look();
        const timer = often(look, 100);
        return () => {
            entry.there = false;
            stop(timer);
            element.remove();
        };
    };
    let begun = false;
    const begin = () => {
        if (begun || document.readyState !== "complete") return;
        begun = true;
        stop(timer);
        new MutationObserver(() => watched.forEach((look) => look())).observe(document.documentElement, {childList: true, subtree: true});
        later(() => change(settings, {make, keep, tell, inquire, isReady}), settings.after);
    };
    // A page that is written anew while it loads takes the listeners away.
    const timer = often(begin, 100);
    window.addEventListener("load", begin, {once: true});
}
