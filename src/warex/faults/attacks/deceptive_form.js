// Adds a form that is sent to another host, in the looks of the page, or has the page's own form sent
// there.
(settings, {make, keep, tell, note, on, often, stop, later, whenSeen, contest, isReady}) => {
    // Milliseconds after which a page that draws itself is expected to have done so.
    const SETTLED = 1500;
    const {add, selector} = settings;
    const main = () => document.querySelector("main, [role=main]") || document.body;
    const target = (back) => `${settings.target}?to=${encodeURIComponent(back)}`;
    // The first element that the settings name, or else `usual` finds.
    const chosen = (usual) => {
        if (!selector) return usual();
        try {
            return document.querySelector(selector);
        } catch (error) {
            tell("nothing", null, "selector");
            return null;
        }
    };
    on(document, "securitypolicyviolation", (event) => {
        const sent = event.effectiveDirective === "form-action" && settings.target.startsWith(event.blockedURI.split("?")[0]);
        if (sent) tell("blocked", null, "form-action");
    });
    // An element with the classes that the page gives to its own ones of this kind.
    const like = (model, tag, style, text) => {
        const element = make(tag, style, text);
        const found = document.querySelector(model);
        if (found && found.className) element.setAttribute("class", found.getAttribute("class"));
        return element;
    };
    const built = () => {
        const form = make("form", {margin: "16px 0"});
        form.method = "post";
        form.action = target(location.href);
        form.append(like("h2", "h2", {}, add.title), make("p", {}, add.text));
        for (const [name, label, type] of add.fields) {
            const row = make("label", {display: "block", margin: "8px 0"}, label);
            const model = "form input:not([type=hidden], [type=checkbox], [type=radio], [type=submit])";
            const input = like(model, "input", {display: "block", margin: "4px 0"});
            input.name = name;
            input.type = type;
            input.required = true;
            on(input, "input", (event) => tell("typed", event, name));
            row.append(input);
            form.append(row);
        }
        form.append(like("form button, button", "button", {}, add.button));
        on(form, "submit", (event) => tell("submitted", event));
        return form;
    };
    const known = new Map();
    let found = false;
    const adding = (form) => () => {
        const beside = chosen(() => main().firstElementChild);
        if (selector && !beside) return;
        found = true;
        const place = beside ? beside.parentNode : main();
        if (place && isReady(beside || place)) place.insertBefore(form, beside);
    };
    const own = () => [...main().querySelectorAll("form:not([role=search])")].find((it) => it.method === "post" && it.checkVisibility());
    const leading = () => {
        const form = chosen(own);
        if (!form || form.method !== "post") return;
        found = true;
        // A field of the form may be called like the attribute.
        const action = form.getAttribute("action") || location.href;
        if (!isReady(form) || action.startsWith(settings.target)) return;
        const put = target(new URL(action, document.baseURI).href);
        let isContested = known.get(form);
        if (!isContested) {
            known.set(form, isContested = contest());
            note("action of the form", action, put);
            whenSeen(form, () => {
                isContested.seen();
                tell("shown");
            }, {anywhere: true, stands: () => form.getAttribute("action").startsWith(settings.target)});
        } else if (isContested.undone() < 0) {
            stop(timer);
            return;
        }
        isContested.done();
        form.setAttribute("action", put);
    };
    let timer = null;
    if (add) {
        const form = built();
        keep(form, "shown", adding(form));
    } else {
        leading();
        timer = often(leading, 100);
    }
    later(() => {
        if (!found) tell("nothing");
    }, SETTLED);
}
