// Leaves the page's requests for data without an answer until somebody uses the page, so that its own
// loading state goes on; where it shows none, a spinner in its look covers it. All that is called once
// the page's scripts run was taken before.
({report, words}, {make, keep, append, tell, note, speak, mark, siteLook, whenSeen, on, later, afterLoad, define, natives}) => {
    // Milliseconds after which a page is expected to show that it loads, and to be seen to.
    const SETTLED = 1500, SEEN = 2500;
    // Requests that are really under way, and texts that are read. A browser has six connections to a site.
    const MOST_OPEN = 2, MOST_TEXTS = 3000, LONGEST = 40, ROUND = 1000;
    const SHOWN = {__proto__: null, visibilityProperty: true, opacityProperty: true};
    const MARKED = "[aria-busy=true],[role=progressbar],progress:not([value]),[class*=spinner i],[class*=loading i],[class*=loader i],[class*=skeleton i],[class*=shimmer i],[id*=loading i],[id*=spinner i]";
    const LOADING = /(?:^|[^a-z])(?:loading|loader|spinner|skeleton|shimmer|busy)(?:$|[^a-z])/i;
    const WAIT = /^(?:loading|please wait|one moment|just a moment|fetching)\b/i;
    const {uncurried} = natives;
    const getter = (owner, name) => uncurried(Object.getOwnPropertyDescriptor(owner, name).get);
    const apply = uncurried(Function.prototype.apply), Later = Promise, Address = URL;
    const href = getter(URL.prototype, "href"), base = getter(Node.prototype, "baseURI");
    const signalOf = getter(Request.prototype, "signal"), urlOf = getter(Request.prototype, "url"), isKept = getter(Request.prototype, "keepalive");
    const isAborted = getter(AbortSignal.prototype, "aborted"), reasonOf = getter(AbortSignal.prototype, "reason");
    const silent = new WeakSet(), isSilent = uncurried(WeakSet.prototype.has), silence = uncurried(WeakSet.prototype.add);
    const nowhere = `${location.origin}${report}?1`, animate = uncurried(Element.prototype.animate);
    const {fetch: nativeFetch} = window;
    let isUsed = false, held = 0;
    for (const kind of ["pointerdown", "mousedown", "touchend", "keydown"]) on(window, kind, (event) => { isUsed = isUsed || event.isTrusted; }, true);
    const noteHeld = (address) => {
        held += 1;
        let full = `${address}`;
        try {
            full = href(new Address(full, base(document)));
        } catch (error) {
            // It is told as it stands.
        }
        note("request", full, "without an answer");
        return held <= MOST_OPEN;
    };
    // Return the address that a Request has; null for what is none.
    const addressOf = (target) => {
        try {
            return urlOf(target);
        } catch (error) {
            return null;
        }
    };
    const hang = (address, signal) => {
        if (noteHeld(address)) return natives.fetch(nowhere, signal ? {__proto__: null, signal} : {__proto__: null});
        return new Later((_, reject) => {
            if (!signal) return;
            if (isAborted(signal)) reject(reasonOf(signal));
            else on(signal, "abort", () => reject(reasonOf(signal)));
        });
    };
    const requests = {
        fetch(...given) {
            const target = given[0], options = given[1] || {__proto__: null}, address = addressOf(target);
            const keeps = options.keepalive || (address !== null && isKept(target));
            if (isUsed || keeps || !given.length) return apply(nativeFetch, window, given);
            const signal = options.signal || (address === null ? null : signalOf(target));
            return hang(address === null ? target : address, signal);
        },
    };
    define(window, "fetch", {__proto__: null, value: requests.fetch, writable: true, enumerable: true, configurable: true});
    const {open, send} = XMLHttpRequest.prototype;
    const asked = {
        open(...given) {
            // One that waits for its answer would block the page's scripts.
            const isLater = given.length < 3 || given[2];
            if (isUsed || !isLater || given.length < 2) return apply(open, this, given);
            if (!noteHeld(given[1])) silence(silent, this);
            return apply(open, this, [given[0], nowhere, true]);
        },
        send(...given) {
            if (!isSilent(silent, this)) apply(send, this, given);
        },
    };
    for (const name of ["open", "send"]) define(XMLHttpRequest.prototype, name, {__proto__: null, value: asked[name], writable: true, enumerable: true, configurable: true});
    const isShown = (element) => natives.isRendered(element, SHOWN) && natives.breadth(element) > 3;
    const isMarked = (element) => {
        const names = `${natives.attribute(element, "class") || ""} ${natives.attribute(element, "id") || ""}`;
        return natives.tag(element) === "progress" || natives.attribute(element, "aria-busy") === "true" || natives.attribute(element, "role") === "progressbar" || natives.match(LOADING, names) !== null;
    };
    const isWaiting = (text) => {
        if (natives.match(WAIT, text) !== null) return true;
        for (const language in words) {
            const said = words[language].text;
            if (text === said || text === natives.trim(natives.slice(said, 0, -1))) return true;
        }
        return false;
    };
    // Return what of the page itself shows that it loads; null for nothing.
    const ownState = () => {
        const found = natives.all(document, MARKED);
        for (let at = 0; at < found.length; at++) if (isMarked(found[at]) && isShown(found[at])) return found[at];
        const texts = natives.textsIn(document, natives.body(document) || natives.root(document), 4);
        for (let count = 0, node = natives.nextText(texts); node && count < MOST_TEXTS; count++, node = natives.nextText(texts)) {
            const text = natives.trim(natives.textOf(node)), holder = natives.parent(node);
            if (text && text.length < LONGEST && isWaiting(text) && natives.kind(holder) === 1 && isShown(holder)) return holder;
        }
        return null;
    };
    const cover = () => {
        const look = {background: "#ffffff", ink: "#333333", accent: "#3366cc", font: "system-ui, sans-serif", ...siteLook()};
        const {text} = speak(words);
        const shade = make("div", {position: "fixed", inset: "0", background: look.background, color: look.ink, "font-family": look.font, "font-size": "16px", display: "flex", "flex-direction": "column", gap: "16px", "align-items": "center", "justify-content": "center", "z-index": "2147483000"});
        natives.setAttribute(shade, "role", "status");
        natives.setAttribute(shade, "aria-busy", "true");
        mark(shade, words);
        const ring = make("div", {width: "40px", height: "40px", "box-sizing": "border-box", "border-radius": "50%", border: `4px solid ${look.accent}`, "border-top-color": "transparent"});
        append(shade, ring, make("div", {}, text));
        keep(shade, "shown");
        try {
            animate(ring, [{transform: "rotate(0turn)"}, {transform: "rotate(1turn)"}], {duration: ROUND, iterations: Infinity});
        } catch (error) {
            // It stands still.
        }
    };
    afterLoad(() => {
        const own = held ? ownState() : null;
        if (!own) return cover();
        let isSeen = false;
        note("loading", "", natives.trim(natives.slice(natives.innerText(own) || natives.attribute(own, "class") || natives.tag(own), 0, LONGEST)));
        const unwatch = whenSeen(own, () => {
            isSeen = true;
            tell("shown");
        }, {anywhere: true, stands: () => natives.isConnected(own)});
        later(() => {
            if (isSeen) return;
            unwatch();
            cover();
        }, SEEN);
    }, SETTLED);
}
