// Puts a text into the page, where an agent reads it, and keeps it there while the page draws itself
// anew.
(settings, {main, make, tell, note, on, often, stop, later, whenSeen, contest, isReady, natives: {frame}}) => {
    // Milliseconds after which a page that draws itself is expected to have done so.
    const SETTLED = 1500;
    const {text, where} = settings;
    const made = "[itemprop=reviewBody], [itemprop=review], [itemprop=comment], [itemprop=text], [role=article], article, [role=listitem] blockquote";
    // Where no markup says who wrote it, names of classes do.
    const named = ["class", "data-testid"].flatMap((name) => ["review", "comment", "message", "feedback"].map((word) => `[${name}*=${word} i]`));
    const byName = `:is(${named}) :is(p, blockquote, dd), :is(p, blockquote, dd):is(${named})`;
    const target = () => {
        if (settings.selector) return document.querySelector(settings.selector);
        if (settings.place !== "user_content") return main();
        return main().querySelector(made) || [...main().querySelectorAll(byName)].find((it) => it.checkVisibility());
    };
    const replaces = settings.place === "user_content" || settings.selector;
    const attribute = ["title", "aria-label", "alt"].includes(where);
    const unseen = {position: "absolute", width: "1px", height: "1px", margin: "-1px", overflow: "hidden", "clip-path": "inset(50%)", "white-space": "nowrap"};
    const added = where === "comment" ? document.createComment(text)
        : where === "alt" ? make("img", {})
        : make("p", where === "hidden" ? unseen : {}, text);
    if (where === "alt") added.alt = text;
    const button = settings.button && make("button", {}, settings.button);
    if (button) {
        button.type = "button";
        on(button, "click", (event) => tell("clicked", event));
    }
    let carried = false, carrier = null, puts = 0, drawnPut = 0, endWatch = () => {};
    // Note that the page has drawn twice since a put: what it undoes as it draws is then undone. A
    // clock does not tell, since a machine that is busy draws seldom; but a tab in the background
    // never draws.
    const noteDrawn = (put) => {
        const drawn = () => { drawnPut = put; };
        if (document.hidden) later(drawn, 100);
        else frame(() => frame(drawn));
    };
    const match = contest();
    const says = (node) => attribute && node !== added ? node.getAttribute(where) === text : node === added || node.textContent === text;
    const holds = () => carrier !== null && carrier.isConnected && says(carrier);
    const replace = (before) => note("the text that it replaces", before, text);
    // Return the node that carries the text, now that it is in the page.
    const put = (found) => {
        if (attribute) {
            const carrier = where !== "alt" || found.matches("img") ? found : found.querySelector("img");
            if (carrier) {
                if (carrier.getAttribute(where) !== text) {
                    if (carrier.hasAttribute(where)) replace(carrier.getAttribute(where));
                    carrier.setAttribute(where, text);
                }
                return carrier;
            }
        } else if (where === "visible" && replaces) {
            const words = found.querySelector("p") || found;
            if (words.textContent !== text) {
                replace(words.textContent);
                words.textContent = text;
            }
            return words;
        }
        if (!added.isConnected) found.append(added);
        return added;
    };
    const shown = () => {
        match.seen();
        tell("shown");
    };
    const look = () => {
        let found = null;
        try {
            found = target();
        } catch (error) {
            tell("nothing", null, "selector");
        }
        if (!found) return;
        carried = true;
        // What a framework is still to compare with its own would be drawn anew.
        if (!isReady(found)) return;
        const held = holds();
        if (carrier !== null && !held && match.undone() < 0) return stop(timer);
        carrier = put(found);
        if (!held) {
            match.done();
            noteDrawn(++puts);
        }
        if (button && !button.isConnected) found === document.body ? found.append(button) : found.after(button);
        // What is not to be seen, an agent reads: it is still there after the page has drawn.
        if (where !== "visible" && held && drawnPut === puts) shown();
        if (where !== "visible" || held) return;
        endWatch();
        endWatch = whenSeen(carrier, shown, {anywhere: true, stands: holds});
    };
    const timer = often(look, 100);
    look();
    later(() => {
        if (!carried) tell("nothing");
    }, SETTLED);
}
