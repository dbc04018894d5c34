// Registers a service worker for the page's site, and has it keep the page and its parts.
({report}, {tell, later, afterLoad, natives}) => {
    // Milliseconds after which a page that loads something again by itself is expected to have done so.
    const SETTLED = 1500;
    const {uncurried} = natives, fail = (why) => tell("nothing", null, why);
    let workers = null;
    try {
        workers = navigator.serviceWorker;
    } catch (error) {
        return afterLoad(() => fail("policy"), 0);
    }
    if (!workers) return afterLoad(() => fail(isSecureContext ? "unsupported" : "insecure"), 0);
    const {register, getRegistration} = ServiceWorkerContainer.prototype, post = uncurried(ServiceWorker.prototype.postMessage);
    const getter = (owner, name) => uncurried(Object.getOwnPropertyDescriptor(owner.prototype, name).get);
    const parts = ["installing", "waiting", "active"], of = {__proto__: null};
    for (const part of parts) of[part] = getter(ServiceWorkerRegistration, part);
    const entries = performance.getEntriesByType.bind(performance);
    const known = uncurried(getRegistration), enrol = uncurried(register);
    const seen = () => {
        const list = [location.href];
        for (const entry of entries("resource")) if (entry.initiatorType === "script" || entry.initiatorType === "link") list[list.length] = entry.name;
        return list;
    };
    const instruct = (registration) => {
        let worker = null;
        for (const part of parts) worker = worker || of[part](registration);
        if (!worker) return fail("failed");
        post(worker, seen());
        later(() => fail("unused"), SETTLED);
    };
    const begin = (registration) => {
        if (registration) return fail("own");
        let asked;
        try {
            asked = enrol(workers, report, {__proto__: null, scope: "/"});
        } catch (error) {
            return fail("policy");
        }
        natives.whenDone(asked, instruct, (error) => fail(error && error.name === "SecurityError" ? "policy" : "failed"));
    };
    afterLoad(() => natives.whenDone(known(workers, "/"), begin, () => fail("policy")), 0);
}
