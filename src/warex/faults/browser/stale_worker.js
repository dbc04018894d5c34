// A service worker that answers with pages, scripts and styles as it saw them first. What pages ask
// of the site's interfaces passes.
({report, heals, lasts}, sign) => {
    // Entries that are kept, and characters of an address in a report. The page's own reports have lower numbers.
    const MOST = 200, LONGEST = 300, FIRST = 50000, NUMBERS = 50000;
    const STORE = report.slice(1), KEPT = ["script", "style"], NOTES = `${report}?notes`, SINCE = "x-since";
    let state = null;
    // What it remembers outlives the worker, which a browser stops when it has nothing to do.
    const read = async () => {
        if (state) return state;
        const noted = await (await caches.open(STORE)).match(NOTES);
        const known = noted ? await noted.json() : {began: Date.now(), told: [], isOver: false};
        state = state || known;
        return state;
    };
    const write = async () => (await caches.open(STORE)).put(NOTES, new Response(JSON.stringify(state)));
    const ascii = (text) => text.replace(/[\u007f-\uffff]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const tell = (change) => {
        const isFirst = state.told.length === 0;
        state.told.push(change[1]);
        const number = FIRST + Math.floor(Math.random() * NUMBERS);
        const text = `${number}\n${isFirst ? "shown" : "changed"}\n\n\n0\n${ascii(JSON.stringify([change]))}`;
        return Promise.all([write(), fetch(report, {method: "POST", body: `${sign(text)}\n${text}`, credentials: "omit"})]);
    };
    const keep = async (request, answer) => {
        if (answer.status !== 200 || answer.type !== "basic" || answer.redirected) return;
        const store = await caches.open(STORE);
        if ((await store.keys()).length >= MOST) return;
        const headers = new Headers(answer.headers);
        headers.set(SINCE, String(Date.now()));
        await store.put(request, new Response(await answer.blob(), {status: 200, headers}));
    };
    const isOfSite = (address) => new URL(address).origin === location.origin;
    const keepAll = async (addresses) => {
        const store = await caches.open(STORE);
        await read();
        for (const address of addresses.filter(isOfSite).slice(0, MOST)) {
            const isPage = address === addresses[0], isKnown = await store.match(address);
            if (isKnown || address.endsWith(report)) continue;
            const answer = await fetch(address, {credentials: "include", cache: isPage ? "no-cache" : "force-cache", headers: isPage ? {accept: "text/html,*/*"} : {}});
            const kind = answer.headers.get("content-type") || "";
            if (/javascript|css|html/.test(kind)) await keep(address, answer);
        }
    };
    // A window that the worker does not serve was reloaded by force.
    const isPassedBy = async () => (await clients.matchAll({type: "window", includeUncontrolled: true})).length > (await clients.matchAll({type: "window"})).length;
    const isOver = async (request) => {
        const {began, isOver: isEnded} = await read();
        if (isEnded) return true;
        const ends = (heals === "wait" && Date.now() - began >= lasts) || (request.mode === "navigate" && await isPassedBy());
        if (!ends) return false;
        state.isOver = true;
        await write();
        await registration.unregister();
        return true;
    };
    const answered = async (event) => {
        const {request} = event;
        if (await isOver(request)) return fetch(request);
        const store = await caches.open(STORE), old = await store.match(request, {ignoreVary: true});
        if (!old) {
            const answer = await fetch(request);
            event.waitUntil(keep(request.url, answer.clone()));
            return answer;
        }
        const ago = Math.round((Date.now() - Number(old.headers.get(SINCE))) / 1000);
        if (heals === "reload") {
            const today = await fetch(request);
            if (today.status === 200 && today.type === "basic") await keep(request.url, today);
        }
        const what = request.mode === "navigate" ? "page" : request.destination;
        if (!state.told.includes(request.url.slice(0, LONGEST))) event.waitUntil(tell([what, request.url.slice(0, LONGEST), `as it was ${ago} s before`]));
        const headers = new Headers(old.headers);
        headers.delete(SINCE);
        return new Response(await old.blob(), {status: 200, headers});
    };
    addEventListener("install", () => skipWaiting());
    addEventListener("activate", (event) => event.waitUntil(clients.claim()));
    addEventListener("message", (event) => event.waitUntil(keepAll(event.data)));
    addEventListener("fetch", (event) => {
        const {request} = event;
        const isKept = request.mode === "navigate" || KEPT.includes(request.destination);
        if (request.method === "GET" && isKept && isOfSite(request.url)) event.respondWith(answered(event));
    });
}
