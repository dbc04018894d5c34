// A further item in a basket that has items and a total. The totals of this page and of those that
// follow agree with it, and a control like the page's own takes it out again.
(settings, {speak, make, keep, tell, on, later, often, isReady, whenSeen, TOTAL, CHECKOUT, plain, amountsIn, put, restore, isRedrawn, rootOf, isBasketPage, labelOf, basketIn, changedBy, stored, store}) => {
    // Milliseconds after which a page that draws itself is expected to have done so, and between looks.
    const SETTLED = 1500, EVERY = 150, DRAWS = 30;
    const REMOVE = /remove|delete|take (it )?out|discard|\u00d7|\u2715|\u2716|entfernen|l\u00f6schen|supprimer|retirer|eliminar|quitar|rimuovi|elimina|remover|verwijder|usu\u0144|\u0443\u0434\u0430\u043b|kald\u0131r|sil\b|\u524a\u9664|\u5220\u9664|\u79fb\u9664|\uc0ad\uc81c|\u062d\u0630\u0641|\u05d4\u05e1\u05e8/i;
    // What a dollar is, roughly, where prices are written with other digits.
    const SCALE = {"\u00a5": 100, "\u5186": 100, JPY: 100, "\u20a9": 1000, KRW: 1000, "\u20b9": 80, INR: 80, "\u20bd": 90, "\u20ba": 30, "kr": 10, "kr.": 10, SEK: 10, NOK: 10, DKK: 7, "z\u0142": 4, PLN: 4, "K\u010d": 23, CZK: 23, Ft: 350, HUF: 350, "R$": 5, BRL: 5};
    let spoken = null;
    const words = () => spoken = spoken || speak(settings.words);
    const priceFor = (amount) => Math.round(settings.price * (SCALE[amount.currency] || 1) * 100 / (amount.places ? 1 : 100)) * (amount.places ? 1 : 100);
    let there = true, item = null, letGo = null, isDone = false;
    const takeOut = (event, reload) => {
        there = false;
        store({removed: true});
        restore();
        tell("removed", event);
        if (letGo) letGo();
        if (reload) later(() => location.reload(), 300);
    };
    const controlOf = (row) => [...row.querySelectorAll("button,a[href],[role=button],input[type=submit]")].find((it) => REMOVE.test(`${it.textContent} ${it.getAttribute("aria-label") || ""} ${it.title} ${it.value || ""} ${it.className}`));
    // Return a row like another, with nothing in it that would act on the other.
    const rowLike = (row, cents) => {
        const copy = row.cloneNode(true);
        for (const form of copy.querySelectorAll("form")) {
            const held = make("div", {});
            held.className = form.className;
            held.append(...form.childNodes);
            form.replaceWith(held);
        }
        for (const it of [copy, ...copy.querySelectorAll("*")]) {
            for (const {name} of [...it.attributes]) if (/^(id|name|for|href|on.*|data-.*|action|aria-labelledby|aria-describedby|itemprop)$/i.test(name)) it.removeAttribute(name);
        }
        copy.querySelectorAll("dialog,script,small,.picture svg,[class*=variant i]").forEach((it) => it.remove());
        copy.querySelectorAll("img,picture,video").forEach((it) => { it.replaceWith(make("span", {display: "inline-block", width: `${Math.min(it.clientWidth || 40, 80)}px`})); });
        const title = copy.querySelector("a,h1,h2,h3,h4,h5,h6,[class*=name i],[class*=title i]") || [...copy.querySelectorAll("*"), copy].find((it) => !it.children.length && /\p{L}{2}/u.test(it.textContent) && !REMOVE.test(it.textContent));
        const amounts = amountsIn(copy, false);
        for (const amount of amounts) put(amount, cents, false);
        if (title) title.textContent = words().item;
        for (const it of copy.querySelectorAll("*")) {
            const isQuantity = !it.children.length && /^\s*\d{1,3}\s*$/.test(it.textContent) && !amounts.some(({element}) => element.contains(it));
            if (isQuantity) it.textContent = "1";
        }
        for (const it of copy.querySelectorAll("input")) {
            it.value = "1";
            it.setAttribute("aria-label", `${words().item}`);
        }
        copy.querySelectorAll("button,[role=button],a,input[type=submit]").forEach((it) => {
            if (it === title) return;
            it.setAttribute("data-r", "");
        });
        const control = controlOf(copy) || [...copy.querySelectorAll("[data-r]")].find((it) => REMOVE.test(it.textContent));
        const remove = make("button", {}, control && plain(control.textContent) || words().remove);
        remove.type = "button";
        if (control) remove.className = control.className;
        else Object.assign(remove.style, {marginInlineStart: "8px", alignSelf: "start", justifySelf: "start"});
        remove.setAttribute("aria-label", `${plain(remove.textContent)} ${words().item}`);
        copy.querySelectorAll("[data-r]").forEach((it) => {
            if (it === control) it.replaceWith(remove);
            else if (!it.contains(title)) it.remove();
        });
        if (!remove.isConnected && !copy.contains(remove)) (copy.matches("tr") ? copy.lastElementChild : copy).append(remove);
        on(remove, "click", (event) => {
            event.preventDefault();
            event.stopPropagation();
            takeOut(event, false);
        }, true);
        return copy;
    };
    // The page's own drawing has it, since its data came with it: its own control takes it out.
    const adopt = () => {
        // The data may be in another language than the page.
        const names = Object.values(settings.words).map(({item}) => item);
        const holder = [...rootOf().querySelectorAll("*")].reverse().find((it) => it.textContent.length < 400 && it.checkVisibility() && names.some((name) => plain(it.textContent).startsWith(name)));
        if (!holder) return false;
        let row = holder;
        while (row.parentElement && row !== rootOf() && !controlOf(row) && row.parentElement.textContent.length < 400) row = row.parentElement;
        const control = controlOf(row);
        if (control && control !== item) {
            item = control;
            on(control, "click", (event) => {
                event.preventDefault();
                event.stopImmediatePropagation();
                takeOut(event, true);
            }, true);
        }
        whenSeen(holder, () => tell("shown"), {anywhere: true, stands: () => holder.isConnected});
        return true;
    };
    const begin = () => {
        const known = stored();
        if (known && known.removed) return "removed";
        const root = rootOf();
        if (!isReady(root)) return null;
        if (adopt()) return "drawn";
        const amounts = amountsIn(document.body);
        const basket = isBasketPage() && basketIn(root, amountsIn(root));
        if (basket) {
            const totals = changedBy(basket);
            if (!totals) return "unexplained";
            const last = basket.rows.at(-1), cents = priceFor(totals[0]);
            const pairs = totals.map((amount) => [amount.cents, amount.cents + cents]);
            const copy = rowLike(last, cents);
            letGo = keep(copy, "shown", () => { if (last.isConnected && isReady(last)) last.after(copy); });
            for (const amount of amounts) {
                const pair = pairs.find(([was]) => was === amount.cents);
                if (!pair || basket.rows.some((row) => row.contains(amount.element))) continue;
                const isTotal = totals.some((total) => total.element === amount.element) || TOTAL.test(labelOf(amount, amounts)) || amount.element.closest("button,header,[class*=total i]");
                if (isTotal) put(amount, pair[1]);
            }
            store({pairs, sum: basket.sum, cents});
            return "added";
        }
        if (known && known.pairs) {
            // What follows the basket: the same totals, and those that add to them here.
            const extras = amounts.map((amount) => amount.cents);
            const pairs = [...known.pairs];
            let changed = null;
            for (const amount of amounts) {
                const isTotal = TOTAL.test(labelOf(amount, amounts)) || amount.element.closest("button,[class*=total i]");
                if (!isTotal) continue;
                const isSum = pairs.find(([was]) => was === amount.cents);
                const isMore = amount.cents > known.sum && extras.includes(amount.cents - known.sum);
                if (!isSum && !isMore) continue;
                if (!isSum) pairs.push([amount.cents, amount.cents + known.cents]);
                put(amount, amount.cents + known.cents);
                changed = amount.element;
            }
            store({...known, pairs});
            if (changed) {
                whenSeen(changed, () => tell("shown"), {anywhere: true, stands: () => changed.isConnected});
                return "followed";
            }
        }
        return null;
    };
    const sent = (event) => { if (there && isDone && !stored()?.removed) tell("kept", event); };
    on(document, "submit", (event) => {
        const button = event.submitter;
        const said = button ? `${button.textContent} ${button.value || ""}` : "";
        if (CHECKOUT.test(said) || /checkout|order|pay/i.test(event.target.action || "")) sent(event);
    }, true);
    on(document, "click", (event) => {
        const pressed = event.target.closest && event.target.closest("a, button, [role=button]");
        if (pressed && CHECKOUT.test(pressed.textContent)) sent(event);
    }, true);
    let why = "no_basket", draws = 0;
    const look = () => {
        if (!there) return;
        if (isDone) {
            // A page that draws its totals anew has them changed anew.
            if (!isRedrawn() || ++draws > DRAWS) return;
            if (letGo) letGo();
            restore();
            letGo = null;
        }
        const outcome = begin();
        isDone = ["added", "drawn", "followed"].includes(outcome);
        if (outcome === "removed") there = false;
        if (outcome === "unexplained") why = "unexplained";
    };
    often(look, EVERY);
    look();
    later(() => {
        if (!isDone && there) tell("nothing", null, why);
    }, SETTLED);
}
