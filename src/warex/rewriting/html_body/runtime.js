// Runs before any script of the page. What it adds survives a page that draws itself anew, and it
// tells the proxy once of each thing that happens. Nothing that could report is within reach of the
// page's scripts: what is called once they run was taken before. `isSilent`: the page's policy lets it open
// no dialog of the browser.
(settings, change, takeNatives, makeSigning, makeVisibility, key, isSilent = false) => {
    const natives = takeNatives(), sign = makeSigning(key, natives), whenSeen = makeVisibility(natives);
    const {later, often, stop, now, stringify, slice, codeAt, whenDone, isConnected} = natives;
    const MOST_CHANGES = 50, LONGEST = 300, LARGEST = 30000, CHANGES_EVERY = 1000, MOST_LATER = 20, MOST_KNOWN = 1000;
    // Milliseconds for which an element must be there to be painted, before it is put back and after an
    // act of a device; how often a page may take it away at once, and before it was seen.
    const FRAME = 34, DELAYS = [0, 0, 20, 50, 100, 200, 400, 800], UNSEEN = 30, PATIENT = 10, PAUSE = 200, GESTURE = 1000;
    // A page may lead relative addresses away.
    const report = location.origin + settings.report;
    const own = document.currentScript, told = {__proto__: null};
    if (own) natives.remove(own);
    // A page that is left may take a request of its own with it, and not what is sent as a beacon.
    let number = 0, isLeaving = false;
    const leaves = (is) => {
        isLeaving = is;
    };
    const ascii = (text) => {
        let written = "";
        for (let at = 0; at < text.length; at++) {
            const code = codeAt(text, at);
            written += code > 126 ? "\\u" + slice("000" + natives.hex(code), -4) : text[at];
        }
        return written;
    };
    // Return what nobody else can make, and what is valid once: its number and text are authenticated.
    const signed = (what, by, detail, payload) => {
        const text = `${number++}\n${what}\n${by}\n${detail}\n${payload}`;
        return `${sign(text)}\n${text}`;
    };
    const send = (what, by, detail, payload, isLast) => {
        const body = signed(what, by, detail, payload);
        if (isLeaving && isLast) return natives.beacon(report, body);
        const keepalive = isLast && body.length < LARGEST * 2;
        return natives.fetch(report, {__proto__: null, method: "POST", body, mode: isLast ? "no-cors" : "cors", credentials: "omit", keepalive});
    };
    const sendLast = (what, by, detail, payload) => {
        const sent = send(what, by, detail, payload, true);
        if (!isLeaving) whenDone(sent, undefined, () => {});
    };
    // What the page's own scripts cannot make up is an act of a device: the event is the browser's, and
    // a key, a button or a finger was used on what it is about just before.
    const gesture = {__proto__: null, at: -GESTURE, target: null, typed: null};
    const isAbout = (target, used) => {
        if (natives.contains(target, used)) return true;
        if (natives.form(used) === target) return true;
        const label = natives.closest(used, "label");
        return label !== null && natives.control(label) === target;
    };
    // Whether text was put in; a box that a script ticks has an event of the browser too.
    const isTyped = (event) => {
        try {
            return natives.inputType(event) !== "";
        } catch (error) {
            return false;
        }
    };
    const byWhom = (event) => {
        // It throws for what is no event.
        const kind = natives.isEvent(event);
        if (!event.isTrusted) return "script";
        const target = natives.pathOf(event)[0];
        if (kind === "keydown" || (kind === "input" && isTyped(event)) || (kind === "change" && gesture.typed === target)) return "user";
        const used = gesture.target;
        const isRecent = now() - gesture.at < GESTURE;
        return isRecent && used && (used === target || isAbout(target, used)) ? "user" : "script";
    };
    const changes = {__proto__: null, text: "", count: 0, more: 0, known: 0, later: 0, isDue: false, isOpen: false};
    const noted = {__proto__: null};
    const takeChanges = () => {
        const payload = changes.count || changes.more ? `${changes.more}\n[${changes.text}]` : "";
        changes.text = "";
        changes.more = 0;
        return payload;
    };
    // Tell once what happened; `event` says by whom, `detail` is one of the words that the proxy knows.
    // What was noted goes with the report that the change was seen, and with one that says so.
    const tell = (what, event = null, detail = "", isNoted = what === "shown") => {
        const by = event ? byWhom(event) : "";
        const about = `${what} ${by} ${detail}`;
        if (told[about]) return;
        told[about] = true;
        sendLast(what, by, ascii(detail), isNoted ? takeChanges() : "");
        if (what === "shown") changes.isOpen = true;
    };
    // Return what a request to a foreign host carries to be believed.
    const ticket = (what, event) => `${settings.report}\n${signed(what, byWhom(event), "", "")}`;
    // Note what of the page says something else now: it is told with the report that it was seen, and
    // what comes later a little later.
    const note = (where, before, after) => {
        const part = (text) => ascii(stringify(slice(text, 0, LONGEST)));
        const text = `[${part(`${where}`)},${part(`${before}`)},${part(`${after}`)}]`;
        // A page that draws itself anew is changed anew, alike.
        if (noted[text] || changes.known >= MOST_KNOWN) return;
        noted[text] = true;
        changes.known += 1;
        if (changes.count >= MOST_CHANGES || changes.text.length + text.length > LARGEST) changes.more += 1;
        else {
            changes.text += (changes.text && ",") + text;
            changes.count += 1;
        }
        if (!changes.isOpen || changes.isDue || changes.later >= MOST_LATER) return;
        changes.isDue = true;
        changes.later += 1;
        later(() => {
            changes.isDue = false;
            if (!changes.text && !changes.more) return;
            sendLast("changed", "", "", takeChanges());
        }, CHANGES_EVERY);
    };
    // Ask the proxy something, at the address at which it is told.
    const inquire = (what, text) => whenDone(send(what, "", "", ascii(stringify(text)), false), (answer) => answer.json());
    const make = (tag, style, text) => {
        const element = natives.create(document, tag);
        for (const name in style) natives.setStyle(natives.styleOf(element), name, style[name]);
        if (text) natives.append(element, text);
        return element;
    };
    const on = (target, kind, act, options = false) => natives.on(target, kind, act, options);
    const marked = (node, name) => Object.keys(node).some((mark) => mark.startsWith(name));
    // React compares what a server drew with what it would draw, until it has marked it.
    const isUnclaimed = (node) => {
        for (let at = node.previousSibling; at; at = at.previousSibling) {
            if (at.nodeType !== Node.COMMENT_NODE) continue;
            if (at.data === "/$") return false;
            if (at.data.startsWith("$")) return true;
        }
        return false;
    };
    // Whether an element may be changed: no framework is still to take it over.
    const isReady = (element) => {
        for (let at = element; at && at.parentNode; at = at.parentNode) {
            if (marked(at, "__reactFiber$")) return true;
            if (marked(at.parentNode, "__reactContainer$")) return false;
            if (marked(at.parentNode, "__reactFiber$")) return !isUnclaimed(at);
        }
        return true;
    };
    // Count what a page undoes before it was seen; after a few times the page has the last word.
    const contest = () => {
        const state = {__proto__: null, put: 0, at: 0, fights: 0, isSeen: false, isLost: false};
        contests.open += 1;
        return {
            __proto__: null,
            // Return the milliseconds after which it may be put once more; -1 when it may not.
            undone() {
                state.fights = now() - state.at < FRAME ? state.fights + 1 : 0;
                state.isLost = state.fights >= DELAYS.length || (!state.isSeen && state.put >= UNSEEN);
                if (state.isLost) {
                    contests.open -= 1;
                    // It is told where nothing else of the change is left.
                    if (!contests.open && !told["shown  "]) tell("removed_by_page");
                    return -1;
                }
                return state.put > PATIENT && !state.isSeen ? PAUSE : DELAYS[state.fights];
            },
            done() {
                state.put += 1;
                state.at = now();
            },
            seen() { state.isSeen = true; },
        };
    };
    const contests = {__proto__: null, open: 0};
    const watched = {__proto__: null, count: 0};
    // Keep an element in the page until it is let go, and say when it, or `part` of it, is seen. With
    // `place`, which puts it among the page's own parts as soon as they are ready, it is seen wherever
    // the page can be scrolled to. It is put back in a later task: within the page's own, two that undo
    // each other's work would let the tab do nothing else.
    const keep = (element, what, place = null, part = element) => {
        const match = contest();
        let isKept = true, isSeen = false, wasThere = false, isDue = false, unwatch = () => {};
        const put = () => {
            isDue = false;
            if (!isKept || isConnected(element) || !natives.body(document)) return;
            if (place) place();
            else natives.append(natives.body(document), element);
            if (!isConnected(element)) return;
            wasThere = true;
            match.done();
            unwatch();
            if (!isSeen) unwatch = whenSeen(part, seen, {anywhere: place !== null, stands: () => isConnected(element)});
        };
        const seen = () => {
            isSeen = true;
            match.seen();
            tell(what);
        };
        const look = () => {
            if (!isKept || isDue || isConnected(element)) return;
            const wait = wasThere ? match.undone() : 0;
            wasThere = false;
            if (wait < 0) return end();
            isDue = true;
            later(put, wait);
        };
        const timer = often(look, 100);
        const end = () => {
            isKept = false;
            unwatch();
            stop(timer);
        };
        watched[watched.count++] = look;
        put();
        return () => {
            end();
            natives.remove(element);
        };
    };
    const awaited = {__proto__: null, count: 0};
    let hasBegun = false;
    // Do something some milliseconds after the page's load.
    const afterLoad = (act, wait) => {
        if (hasBegun) later(act, wait);
        else awaited[awaited.count++] = () => later(act, wait);
    };
    const kit = {__proto__: null, isSilent, leaves, make, keep, tell, ticket, note, inquire, isReady, whenSeen, contest, on, later, often, stop, now, afterLoad, natives, append: natives.append, define: natives.define};
    const begin = () => {
        if (hasBegun || natives.readyState(document) !== "complete") return;
        hasBegun = true;
        stop(timer);
        const mutations = new natives.Mutations(() => {
            for (let at = 0; at < watched.count; at++) watched[at]();
        });
        natives.follow(mutations, natives.root(document), {__proto__: null, childList: true, subtree: true});
        for (let at = 0; at < awaited.count; at++) awaited[at]();
        if (!settings.isEarly) later(() => change(settings, kit), settings.after);
    };
    const noteGesture = (event) => {
        if (!event.isTrusted) return;
        const target = natives.pathOf(event)[0];
        if (natives.isEvent(event) === "input") gesture.typed = isTyped(event) ? target : null;
        else {
            gesture.at = now();
            gesture.target = target;
        }
    };
    const listen = () => {
        const kinds = ["pointerdown", "pointerup", "mousedown", "mouseup", "touchend", "keydown", "keyup", "input"];
        for (let at = 0; at < kinds.length; at++) natives.on(window, kinds[at], noteGesture, {__proto__: null, capture: true, passive: true});
    };
    listen();
    // A page that is written anew takes the listeners away.
    often(listen, 100);
    const timer = often(begin, 100);
    natives.on(window, "load", begin, {__proto__: null, once: true});
    natives.on(window, "pagehide", () => leaves(true), true);
    natives.on(window, "pageshow", () => leaves(false), true);
    // What the page's own scripts are to meet is there before them.
    if (settings.isEarly) change(settings, kit);
}
