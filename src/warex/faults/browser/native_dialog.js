// Opens a dialog of the browser, which blocks the page's scripts until it is answered. All that is used
// here was taken before a script of the page runs.
({dialog, when, wait, words}, {isSilent, leaves, tell, note, on, later, afterLoad, inLanguage, natives}) => {
    // Milliseconds after which a page that does something by itself is expected to have done so, and
    // after which a page that was not left stays.
    const SETTLED = 1500, STAYED = 3000;
    const {uncurried} = natives;
    const getter = (owner, name) => uncurried(Object.getOwnPropertyDescriptor(owner, name).get);
    const open = window[dialog] && window[dialog].bind(window), self = window, outer = window.top;
    const origin = window.origin, parentOf = (view) => view.parent, holderOf = (view) => view.frameElement;
    const prevent = uncurried(Event.prototype.preventDefault), end = uncurried(Event.prototype.stopImmediatePropagation);
    const has = uncurried(DOMTokenList.prototype.contains), sandboxOf = getter(HTMLIFrameElement.prototype, "sandbox");
    const activation = navigator.userActivation, isActive = activation ? getter(UserActivation.prototype, "hasBeenActive") : () => true;
    // A driver may put a function of its own in the place of the browser's.
    const isNative = !open || natives.match(/\{\s*\[native code\]\s*\}/, uncurried(Function.prototype.toString)(window[dialog])) !== null;
    let isOver = false, isOpen = false;
    // Return why the browser would show no dialog of this page; empty if it would.
    const refusal = () => {
        if (!isNative) return "replaced";
        if (isSilent) return "sandbox";
        if (self !== outer && origin === "null") return "opaque";
        try {
            for (let view = self; view !== outer; view = parentOf(view)) {
                const holder = holderOf(view);
                if (!holder) return "";
                const isSafe = natives.tag(holder) !== "iframe" || natives.attribute(holder, "sandbox") === null;
                if (!isSafe && !has(sandboxOf(holder), "allow-modals")) return "sandbox";
            }
        } catch (error) {
            // Of frames around it on other sites nothing is known.
        }
        return "";
    };
    const fail = (why) => tell("nothing", null, why);
    const textOf = () => inLanguage(words).text;
    const shown = () => {
        note(dialog, "", dialog === "print" || dialog === "beforeunload" ? "shown" : textOf());
        tell("shown");
    };
    // Ask, and tell what was answered; return whether it was not refused.
    const ask = (unless) => {
        isOver = true;
        if (dialog === "print") {
            let isShown = false;
            on(window, "beforeprint", () => {
                if (!isShown) shown();
                isShown = true;
            });
            open();
            later(() => isShown ? tell("dismissed") : fail("ignored"), 0);
            return true;
        }
        // The page is blocked as soon as it asks: it is told before.
        shown();
        const answer = dialog === "prompt" ? open(textOf(), "") : open(textOf());
        const isRefused = answer === false || answer === null;
        if (answer !== undefined) note(`answer to ${dialog}`, "", answer === null ? "cancelled" : `${answer}`);
        const accepts = !isRefused && dialog !== "alert";
        tell(accepts ? "accepted" : "dismissed", null, isRefused ? unless : "", true);
        return !isRefused;
    };
    const why = refusal();
    if (why) return afterLoad(() => fail(why), SETTLED);
    if (when === "load") return afterLoad(() => ask(""), wait);
    if (when === "submit") {
        on(window, "submit", (event) => {
            if (isOver) return tell("submitted", event);
            if (ask("unsent")) return;
            prevent(event);
            end(event);
        }, true);
        return afterLoad(() => isOver || fail("no-form"), wait + SETTLED);
    }
    const leave = (event) => {
        if (isOver || !isActive(activation)) return;
        isOver = isOpen = true;
        leaves(true);
        shown();
        prevent(event);
        // Where the event is an older one, this is what asks.
        event.returnValue = true;
        later(() => {
            if (!isOpen) return;
            isOpen = false;
            leaves(false);
            note("answer to beforeunload", "", "stay");
            tell("dismissed", null, "", true);
        }, STAYED);
    };
    on(window, "pagehide", () => {
        if (!isOpen) return isOver || fail("activation");
        isOpen = false;
        note("answer to beforeunload", "", "leave");
        tell("accepted", null, "", true);
    });
    afterLoad(() => on(window, "beforeunload", leave), wait);
    afterLoad(() => isOver || fail("stayed"), wait + SETTLED);
}
