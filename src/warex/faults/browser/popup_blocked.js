// Opens no new window. All that is used here was taken before a script of the page runs.
({links}, {tell, note, on, afterLoad, define, natives}) => {
    // Milliseconds after which a page that opens windows by itself is expected to have done so.
    const SETTLED = 1500;
    const {uncurried} = natives;
    const open = window.open.bind(window), Address = URL, href = uncurried(Object.getOwnPropertyDescriptor(URL.prototype, "href").get);
    const base = uncurried(Object.getOwnPropertyDescriptor(Node.prototype, "baseURI").get), lower = uncurried(String.prototype.toLowerCase);
    const prevent = uncurried(Event.prototype.preventDefault), apply = uncurried(Function.prototype.apply);
    const OWN = {__proto__: null, "": true, _self: true, _parent: true, _top: true};
    let isMet = false;
    // Whether a name is that of this window or of a frame, which are there already.
    const isThere = (name) => {
        if (OWN[lower(name)] || name === window.name) return true;
        const frames = natives.all(document, "iframe,frame,object");
        for (let at = 0; at < frames.length; at++) if (natives.attribute(frames[at], "name") === name) return true;
        return false;
    };
    const meet = (address) => {
        isMet = true;
        note("window", address, "blocked");
        tell("shown");
    };
    const absolute = (address) => address === "" ? "about:blank" : href(new Address(address, base(document)));
    const blocked = {
        open(...given) {
            const address = given.length && given[0] !== undefined ? `${given[0]}` : "";
            const name = given.length > 1 && given[1] !== undefined ? `${given[1]}` : "_blank";
            if (name !== "" && isThere(name)) return apply(open, window, given);
            let wanted;
            try {
                wanted = absolute(address);
            } catch (error) {
                // The browser says what is wrong with it.
                return apply(open, window, given);
            }
            meet(wanted);
            return null;
        },
    };
    define(window, "open", {__proto__: null, value: blocked.open, writable: true, enumerable: true, configurable: true});
    const stopped = (event, element, address) => {
        const target = natives.attribute(element, "target") || "";
        if (isThere(target)) return;
        prevent(event);
        meet(address);
    };
    if (links) {
        on(window, "click", (event) => {
            const path = natives.pathOf(event);
            for (let at = 0; at < path.length; at++) {
                const element = path[at];
                if (element === document || element === window || natives.kind(element) !== 1) continue;
                const tag = natives.tag(element);
                if ((tag !== "a" && tag !== "area") || natives.attribute(element, "href") === null) continue;
                stopped(event, element, absolute(natives.attribute(element, "href")));
                return;
            }
        }, true);
        on(window, "submit", (event) => {
            const form = natives.pathOf(event)[0];
            stopped(event, form, absolute(natives.attribute(form, "action") || ""));
        }, true);
    }
    afterLoad(() => {
        if (!isMet) tell("nothing", null, "unused");
    }, SETTLED);
}
