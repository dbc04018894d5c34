// Adds a form that is sent to another host, in the looks of the page, or has the page's own form sent
// there.
(settings, {mainButton, main, speak, inLanguage, mark, make, keep, tell, ticket, note, on, often, stop, later, whenSeen, contest, isReady}) => {
    // Milliseconds after which a page that draws itself is expected to have done so.
    const SETTLED = 1500;
    const {add, selector} = settings;
    const target = (back) => `${settings.target}?to=${encodeURIComponent(back)}`;
    // Who sends the form is known here alone, and is proven by what it is sent with.
    const prove = (form, event) => {
        const [bare] = form.getAttribute("action").split("&t=");
        if (bare.startsWith(settings.target)) form.setAttribute("action", `${bare}&t=${encodeURIComponent(ticket("collected", event))}`);
    };
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
        const found = [...document.querySelectorAll(model)].find((it) => it.checkVisibility({visibilityProperty: true, opacityProperty: true}) && it.clientWidth > 8);
        if (found && found.className) element.setAttribute("class", found.getAttribute("class"));
        return element;
    };
    // A button like the page's main one, or else as the browser draws one.
    const buttonLike = (text) => {
        const element = make("button", {"white-space": "nowrap"}, text), model = mainButton();
        if (model && model.className) element.setAttribute("class", model.getAttribute("class"));
        return element;
    };
    const built = () => {
        const form = make("form", {margin: "16px 0"});
        form.method = "post";
        form.action = target(location.href);
        const words = speak(add.words), labels = inLanguage(add.labels);
        mark(form, add.words);
        note("fields", "", add.fields.map(([name]) => labels[name]).join(", "));
        form.append(like("h2", "h2", {}, words.form), make("p", {}, words.text));
        for (const [name, type] of add.fields) {
            const label = labels[name];
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
        form.append(buttonLike(words.button));
        on(form, "submit", (event) => {
            tell("submitted", event);
            prove(form, event);
        });
        return form;
    };
    // Return the first part of the content, before which a form stands.
    const first = () => [...main().children].find((it) => !it.matches("header,nav,script,style,template,[role=banner],[role=navigation],link,noscript")) || null;
    const known = new Map();
    let found = false;
    const adding = (form) => () => {
        const beside = chosen(first);
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
            on(form, "submit", (event) => prove(form, event));
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
