// What items cost is another amount from one place of the shop on: on the page of an item, in a basket whose
// lines and totals then agree, and on the pages that follow. What data has changed already stays.
(settings, {tell, inquire, later, often, isReady, whenSeen, natives, BASKET, TOTAL, CHECKOUT, plain, amountsIn, placeOf, put, restore, isRedrawn, rootOf, isBasketPage, labelOf, basketIn, changedBy, stored, store}) => {
    // Milliseconds after which a page that draws itself is expected to have done so, and between looks.
    const SETTLED = 1500, EVERY = 150, DRAWS = 30;
    const DETAIL = 0, IN_BASKET = 1, AT_CHECKOUT = 2;
    const ADD = /add to|put in|buy now|\bin den (waren|einkaufs)|ajouter au|a\u00f1adir al|aggiungi al|adicionar ao|in winkel|do koszyka|\u0432 \u043a\u043e\u0440\u0437\u0438\u043d\u0443|sepete|\u30ab\u30fc\u30c8\u306b|\u52a0\u5165\u8d2d\u7269\u8f66|\uc7a5\ubc14\uad6c\ub2c8|\u0623\u0636\u0641|\u05d4\u05d5\u05e1\u05e3/i;
    const OTHER = /ship|deliver|postage|versand|liefer|livraison|env\u00edo|spedizion|\bfrete|verzend|wysy\u0142|\u0434\u043e\u0441\u0442\u0430\u0432|kargo|\u9001\u6599|\u8fd0\u8d39|\ubc30\uc1a1/i;
    let isDone = false, draws = 0, why = "no_price", data = new Set(), asked = "", answered = "";
    const known = () => stored() || {};
    const scaled = (cents, places) => {
        const unit = places ? 1 : 100;
        const exact = settings.amount === null ? cents * settings.factor / 1e6 : cents + settings.amount;
        return Math.max(0, Math.round(exact / unit) * unit);
    };
    const says = (pattern) => pattern.test(location.pathname) || pattern.test(document.title) || [...document.querySelectorAll("h1")].some((it) => pattern.test(it.textContent));
    const isCheckout = () => /checkout|kasse|caisse|cassa|caja/i.test(location.pathname) || says(CHECKOUT);
    // A page of orders may be about earlier ones, which cost what they did.
    const isOfOrders = () => /order|bestell|commande|pedido|ordine/i.test(location.pathname) && !/cart|basket|checkout|kasse/i.test(location.pathname);
    const quantityIn = (row) => {
        const field = row.querySelector("input[type=number],select,input[name*=q i]");
        const written = [...row.querySelectorAll("*")].find((it) => !it.children.length && /^\s*\d{1,3}\s*$/.test(it.textContent));
        const times = /(?:^|\s)(\d{1,3})\s*[\u00d7x](?!\w)|(?:^|\s)[\u00d7x]\s*(\d{1,3})(?![\d.,])/.exec(plain(row.textContent));
        const count = Number(field ? field.value : written ? written.textContent : times ? times[1] || times[2] : 1);
        return count > 0 && Number.isInteger(count) ? count : 1;
    };
    // Return what each amount of a row becomes, and what the line comes to.
    const lineOf = (row, amounts, lines) => {
        const line = amounts.reduce((one, other) => other.cents > one.cents ? other : one);
        const count = quantityIn(row);
        const told = amounts.find((it) => it.cents < line.cents && it.cents * count === line.cents) || amounts.find((it) => it.cents < line.cents && line.cents % it.cents === 0);
        const each = told ? told.cents : line.cents % count === 0 ? line.cents / count : line.cents;
        const price = scaled(each, line.places);
        // Where a later page does not tell how many they are, the basket did.
        const before = !told && lines.find(([was]) => was === line.cents);
        const sum = before ? before[1] : price * Math.round(line.cents / each);
        return {sum, was: line.cents, puts: amounts.flatMap((it) => it.cents === line.cents ? [[it, sum]] : it.cents === each ? [[it, price]] : [])};
    };
    // What data has changed is drawn as it is to be: its numbers may be cents.
    const isNew = (amounts) => amounts.some((it) => data.has(it.cents));
    const mind = (pairs) => {
        data = new Set();
        for (const [, after] of pairs) {
            const written = String(after).replace(/[^\d.,]/g, ""), part = /[.,](\d{1,2})$/.exec(written);
            const whole = Number((part ? written.slice(0, part.index) : written).replace(/\D/g, ""));
            data.add(whole * 100 + (part ? Number(part[1].padEnd(2, "0")) : 0));
            if (!part) data.add(whole);
        }
    };
    // Whether it is known what data has changed until now; it is asked anew for other amounts.
    const isInformed = (amounts) => {
        const about = amounts.map((it) => it.cents).join();
        if (answered === about) return true;
        if (asked !== about) {
            asked = about;
            natives.whenDone(inquire("data", ""), (pairs) => {
                mind(pairs);
                answered = about;
                look();
            }, () => {});
        }
        return false;
    };
    const seen = (element) => whenSeen(element, () => tell("shown"), {anywhere: true, stands: () => element.isConnected});
    const inBasket = (basket, amounts, place) => {
        if (isNew(basket.totals)) {
            seen(basket.totals[0].element);
            return "drawn";
        }
        const totals = changedBy(basket);
        if (!totals) return "unexplained";
        const before = known(), earlier = before.sum === basket.sum && before.lines || [];
        const lines = basket.rows.map((row, nth) => lineOf(row, basket.lines[nth], earlier));
        const delta = lines.reduce((sum, line) => sum + line.sum, 0) - basket.sum;
        const pairs = totals.map((it) => [it.cents, it.cents + delta]);
        store({pairs, sum: basket.sum, delta, lines: lines.map(({was, sum}) => [was, sum])});
        if (place < settings.since) return "too_early";
        for (const line of lines) for (const [amount, cents] of line.puts) put(amount, cents, true, "price");
        for (const amount of amounts) {
            const pair = pairs.find(([was]) => was === amount.cents);
            if (!pair || basket.rows.some((row) => row.contains(amount.element))) continue;
            const isTotal = totals.some((it) => it.element === amount.element) || TOTAL.test(labelOf(amount, amounts)) || amount.element.closest("button,header,[class*=total i]");
            if (isTotal) put(amount, pair[1]);
        }
        seen(totals[0].element);
        return "changed";
    };
    const isAway = (link) => {
        const place = placeOf(link);
        return place !== null && place.pathname !== location.pathname;
    };
    const leadsAway = (element) => [...element.querySelectorAll("a[href]")].some(isAway);
    const isInCard = (element, title) => {
        const link = element.closest("a[href]");
        if (link && isAway(link)) return true;
        for (let card = element.closest("li,article,tr,[class*=card i],[class*=tile i]"); card; card = card.parentElement.closest("li,article,tr,[class*=card i],[class*=tile i]")) {
            if (!card.contains(title) && leadsAway(card)) return true;
        }
        return false;
    };
    const onDetail = (root) => {
        const title = root.querySelector("h1");
        const buttons = [...root.querySelectorAll("button,input[type=submit],[role=button],a")];
        if (!title || !(settings.isItem || buttons.some((it) => ADD.test(it.textContent || it.value) && !isInCard(it, title)))) return null;
        const isOld = (it) => it.element.closest("del,s,strike,[class*=was i],[class*=old i]");
        const own = amountsIn(root).filter((it) => !isOld(it) && !isInCard(it.element, title));
        const follows = (it) => title.compareDocumentPosition(it.element) & Node.DOCUMENT_POSITION_FOLLOWING;
        const main = own.find((it) => follows(it) && !OTHER.test(labelOf(it, own))) || own[0];
        if (!main) return null;
        if (settings.since > DETAIL) return "too_early";
        if (!isInformed(own)) return null;
        seen(main.element);
        if (isNew([main])) return "drawn";
        for (const amount of own.filter((it) => it.cents === main.cents)) put(amount, scaled(main.cents, main.places), true, "price");
        return "changed";
    };
    const follow = (amounts, place) => {
        const {pairs, sum, delta} = known();
        if (!pairs || place < settings.since) return null;
        const all = amounts.map((it) => it.cents);
        let changed = null;
        for (const amount of amounts) {
            const isTotal = TOTAL.test(labelOf(amount, amounts)) || amount.element.closest("button,[class*=total i]");
            const isMore = amount.cents > sum && all.includes(amount.cents - sum);
            if (!isTotal || isNew([amount]) || !(pairs.some(([was]) => was === amount.cents) || isMore)) continue;
            put(amount, amount.cents + delta);
            changed = amount.element;
        }
        if (!changed) return null;
        seen(changed);
        return "changed";
    };
    const begin = () => {
        const root = rootOf();
        if (!isReady(root)) return null;
        const amounts = amountsIn(document.body);
        if (!amounts.length) return null;
        const place = isCheckout() ? AT_CHECKOUT : IN_BASKET;
        const basket = isBasketPage() && basketIn(root, amountsIn(root));
        if (basket) {
            const {pairs = []} = known();
            if (isOfOrders() && !basket.totals.some((it) => pairs.some(([was]) => was === it.cents))) return null;
            return isInformed(amounts) ? inBasket(basket, amounts, place) : null;
        }
        if (!isBasketPage() && (settings.isItem || !known().pairs)) return onDetail(root);
        return isInformed(amounts) ? follow(amounts, place) || (isBasketPage() ? null : onDetail(root)) : null;
    };
    const look = () => {
        if (isDone) {
            // A page that draws its amounts anew has them changed anew.
            if (!isRedrawn() || ++draws > DRAWS) return;
            restore();
            answered = asked = "";
        }
        const outcome = begin();
        isDone = outcome === "changed" || outcome === "drawn";
        if (outcome === "unexplained" || outcome === "too_early") why = outcome;
    };
    often(look, EVERY);
    look();
    later(() => {
        if (!isDone) tell("nothing", null, why);
    }, SETTLED);
}
