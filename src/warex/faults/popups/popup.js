// A dialog over the page, or in a corner of it, that is closed by a button, Escape or a click
// beside it, and comes back as often as it is told to.
(settings, {siteLook, make, append, keep, tell, on, later, speak, mark}) => {
    // A dialog of the site itself has its colours and letters.
    const look = {onAccent: "#fff", ...settings.look, ...(settings.isOfSite ? siteLook() : {})};
    const words = speak(settings.words);
    // What is said beside the cross.
    const refusal = settings.refuses && words.close;
    const open = (left) => {
        const shade = make("div", look.overlay
            ? {position: "fixed", inset: "0", background: "rgba(0,0,0,.55)", display: "flex", "align-items": "center", "justify-content": "center", "z-index": "2147483000"}
            : {position: "fixed", right: "24px", bottom: "24px", "z-index": "2147483000"});
        const box = make("div", {background: look.background, color: look.ink, "font-family": look.font, "border-radius": look.round, padding: "28px 32px", "max-width": "420px", "box-shadow": "0 12px 48px rgba(0,0,0,.35)", position: "relative", "text-align": "center", "font-size": "16px", "line-height": "1.45"});
        box.setAttribute("role", "dialog");
        box.setAttribute("aria-modal", String(look.overlay));
        box.setAttribute("aria-label", words.title);
        mark(box, settings.words);
        const close = words.close && make("button", {position: "absolute", top: "8px", "inset-inline-end": "8px", border: "0", background: "transparent", color: look.ink, "font-size": "20px", cursor: "pointer"}, "\u00d7");
        if (close) {
            close.type = "button";
            close.setAttribute("aria-label", words.close);
            on(close, "click", (event) => gone("dismissed", event));
            append(box, close);
        }
        const heading = make("h2", {margin: "0 0 10px", "font-size": "22px"}, words.title);
        append(box, heading, make("p", {margin: "0 0 18px"}, words.text));
        let field = null;
        if (words.field) {
            field = make("input", {width: "100%", padding: "10px", margin: "0 0 14px", "box-sizing": "border-box", border: "1px solid #999", background: "#fff", color: "#222"});
            field.type = "email";
            field.placeholder = words.field;
            field.setAttribute("aria-label", words.field);
            on(field, "input", (event) => tell("typed", event));
            append(box, field);
        }
        const accept = make(settings.target ? "a" : "button", {display: "inline-block", border: "0", background: look.accent, color: look.onAccent, padding: settings.large ? "22px 60px" : "12px 26px", "border-radius": look.round, "font-size": settings.large ? "26px" : "17px", "font-weight": "600", cursor: "pointer", "text-decoration": "none"}, words.button);
        if (settings.target) accept.href = settings.target;
        else accept.type = "button";
        append(box, accept);
        // Who refuses has to say so.
        const refuse = refusal && make("button", {display: "block", margin: "14px auto 0", border: "0", background: "transparent", color: "inherit", font: "inherit", "font-size": "14px", "text-decoration": "underline", cursor: "pointer"}, refusal);
        if (refuse) {
            refuse.type = "button";
            append(box, refuse);
        }
        append(shade, box);
        let isOpen = true;
        const gone = (how, event) => {
            if (!isOpen) return;
            tell(how, event);
            isOpen = false;
            letGo();
            if (left > 1) later(() => open(left - 1), settings.every);
        };
        on(accept, "click", (event) => settings.target ? tell("followed", event) : gone("accepted", event));
        if (refuse) on(refuse, "click", (event) => gone("dismissed", event));
        if (close) {
            on(shade, "click", (event) => {
                if (event.target === shade) gone("dismissed", event);
            });
            on(document, "keydown", (event) => {
                if (event.key === "Escape") gone("dismissed", event);
            }, true);
        }
        const letGo = keep(shade, "shown", null, box);
    };
    open(settings.times);
}
