// Lets the page's storage fail as it does where the browser denies it, or where it is full. All that
// is used here was taken before a script of the page runs.
({areas, how}, {tell, note, on, afterLoad, define, natives: {uncurried}}) => {
    // Milliseconds after which a page is expected to have used what it uses.
    const SETTLED = 1500;
    const Failure = DOMException, Full = window.QuotaExceededError, {get: read, set: write, defineProperty: put} = Reflect;
    const apply = uncurried(Function.prototype.apply), reject = Promise.reject.bind(Promise);
    let isMet = false, isThere = false;
    const meet = (where, name) => {
        isMet = true;
        note(where, "", name);
        tell("shown");
    };
    const denied = (where, message) => {
        meet(where, "SecurityError");
        return new Failure(message, "SecurityError");
    };
    const exceeded = (message) => Full ? new Full(message) : new Failure(message, "QuotaExceededError");
    // Replace a method or getter of an object by one that is told what it stands for.
    const replace = (owner, name, make) => {
        const held = Object.getOwnPropertyDescriptor(owner, name);
        const part = held.get ? "get" : "value";
        define(owner, name, {__proto__: null, ...held, [part]: make(held[part])});
    };
    const denyArea = (name) => replace(window, name, () => function () {
        throw denied(name, `Failed to read the '${name}' property from 'Window': Access is denied for this document.`);
    });
    const denyDatabases = () => {
        for (const name of ["open", "deleteDatabase", "databases"]) {
            const message = `Failed to execute '${name}' on 'IDBFactory': access to the Indexed Database API is denied in this context.`;
            replace(IDBFactory.prototype, name, () => function () {
                const error = denied(`indexedDB.${name}`, message);
                if (name === "databases") return reject(error);
                throw error;
            });
        }
    };
    // An area is full: what is there can be read, removed and replaced by what is no longer.
    const fillAreas = (names) => {
        const native = {__proto__: null}, stores = {__proto__: null, count: 0};
        const ofStore = Object.getOwnPropertyDescriptors(Storage.prototype);
        for (const name of ["getItem", "setItem", "removeItem", "key", "clear"]) native[name] = ofStore[name].value;
        const areaOf = (store) => {
            for (let at = 0; at < stores.count; at++) if (stores[at].store === store || stores[at].shown === store) return stores[at];
            return null;
        };
        const ask = (store, name, given) => apply(native[name], store, given);
        const check = (area, key, value) => {
            const before = ask(area.store, "getItem", [key]);
            if (before !== null && `${value}`.length <= before.length) return;
            meet(`${area.name}.setItem`, "QuotaExceededError");
            throw exceeded(`Failed to execute 'setItem' on 'Storage': Setting the value of '${key}' exceeded the quota.`);
        };
        for (const name in native) {
            replace(Storage.prototype, name, () => function (...given) {
                const area = areaOf(this);
                if (area && name === "setItem" && given.length > 1) check(area, given[0], given[1]);
                return ask(area ? area.store : this, name, given);
            });
        }
        replace(Storage.prototype, "length", (length) => function () {
            const area = areaOf(this);
            return apply(length, area ? area.store : this, []);
        });
        const isKey = (name) => typeof name === "string" && !(name in Storage.prototype);
        for (const name of names) {
            const area = {__proto__: null, name, store: window[name], shown: null};
            // `localStorage.name = value` is a write, too.
            area.shown = new Proxy(area.store, {
                __proto__: null,
                get: (store, key) => read(store, key),
                set: (store, key, value) => {
                    if (isKey(key)) check(area, key, value);
                    return write(store, key, value);
                },
                defineProperty: (store, key, held) => {
                    if (isKey(key)) check(area, key, held.value);
                    return put(store, key, held);
                },
            });
            stores[stores.count++] = area;
            replace(window, name, () => function () { return area.shown; });
        }
    };
    // What was put in is there until the transaction is to be completed, which then fails.
    const fillDatabases = () => {
        const getter = (owner, name) => uncurried(Object.getOwnPropertyDescriptor(owner.prototype, name).get);
        const transactionOf = getter(IDBObjectStore, "transaction"), abort = uncurried(IDBTransaction.prototype.abort);
        const failed = new WeakSet(), isIn = uncurried(WeakSet.prototype.has), add = uncurried(WeakSet.prototype.add);
        for (const name of ["add", "put"]) {
            replace(IDBObjectStore.prototype, name, (native) => function (...given) {
                const request = apply(native, this, given), transaction = transactionOf(this);
                on(request, "success", () => {
                    if (isIn(failed, transaction)) return;
                    add(failed, transaction);
                    meet(`indexedDB.${name}`, "QuotaExceededError");
                    try {
                        abort(transaction);
                    } catch (error) {
                        // The page has done so itself.
                    }
                });
                return request;
            });
        }
        replace(IDBTransaction.prototype, "error", (native) => function () {
            return isIn(failed, this) ? exceeded("The transaction exceeded the quota of this origin.") : apply(native, this, []);
        });
    };
    const isOffered = (name) => {
        try {
            return Boolean(window[name]);
        } catch (error) {
            return false;
        }
    };
    const offered = areas.filter(isOffered), isDatabase = (name) => name === "indexedDB";
    isThere = offered.length > 0;
    if (offered.some(isDatabase)) (how === "full" ? fillDatabases : denyDatabases)();
    const stores = offered.filter((name) => !isDatabase(name));
    if (how === "full") fillAreas(stores);
    else stores.forEach(denyArea);
    afterLoad(() => {
        if (!isMet) tell("nothing", null, isThere ? "unused" : "refused");
    }, SETTLED);
}
