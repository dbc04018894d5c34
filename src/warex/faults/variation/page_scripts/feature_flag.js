// Some actions of a group are in a menu now: one more click, and they do what they did. The page's
// own nodes stay where they are, out of sight, since a framework may look for them there.
({share, words}, {inLanguage, make, watch, may, allows, changed, note, on, luck, found}) => {
    const GROUPS = "nav,[role=toolbar],[role=menubar],.toolbar,.actions";
    const {label} = inLanguage(words);
    const menus = new Map(), hidden = new WeakSet();
    const nameOf = (element) => (element.getAttribute("aria-label") || element.innerText || element.textContent || "").replace(/\s+/g, " ").trim();
    // Days and pages are no actions.
    const isAction = (element) => nameOf(element) && !/^\P{L}*\d\P{L}*$/u.test(element.textContent);
    // What holds an action within its group alone; a row of a list that holds the group stays.
    const placeOf = (action, group) => {
        const item = action.closest("li");
        return item && group !== item && group.contains(item) ? item : action;
    };
    const entryOf = (action) => {
        const link = action.matches("a[href]");
        const entry = make(link ? "a" : "button", {display: "block", margin: "6px 0"}, nameOf(action));
        if (link) entry.href = action.href;
        else entry.type = "button";
        on(entry, "click", (event) => {
            event.preventDefault();
            action.click();
        });
        return entry;
    };
    const menuOf = (group) => {
        const there = menus.get(group);
        if (there) {
            if (!there.menu.isConnected) group.append(there.menu);
            return there;
        }
        const menu = make("details", {display: "inline-block", position: "relative"});
        const box = make("div", {position: "absolute", "inset-inline-end": "0", background: "#fff", color: "#222", padding: "8px 14px", "min-width": "140px", "box-shadow": "0 4px 16px rgba(0,0,0,.25)", "z-index": "900"});
        menu.append(make("summary", {cursor: "pointer"}, label), box);
        group.append(menu);
        menus.set(group, {menu, box});
        return {menu, box};
    };
    watch((roots) => {
        for (const group of found(roots, GROUPS)) {
            if (group.parentElement && group.parentElement.closest(GROUPS)) continue;
            const actions = [...group.querySelectorAll("a[href],button")].filter((it) => isAction(it) && !hidden.has(it) && may(it));
            const stay = actions.filter((it) => luck("flag", nameOf(it)) >= share);
            // Something of a group stays in sight.
            for (const action of stay.length ? actions : actions.slice(1)) {
                if (stay.includes(action) || !allows(action)) continue;
                const {menu, box} = menuOf(group);
                box.append(entryOf(action));
                note("moved into the menu", nameOf(action), `${label} > ${nameOf(action)}`);
                placeOf(action, group).style.setProperty("display", "none", "important");
                hidden.add(action);
                changed(menu);
            }
        }
    });
}
