// Items that are no longer to be had, in a basket that shows them: their lines are struck out, and the totals
// of this page and of those that follow are what the others come to.
(settings, {speak, make, keep, tell, note, later, often, isReady, whenSeen, TOTAL, plain, amountsIn, placeOf, put, restore, isRedrawn, rootOf, isBasketPage, labelOf, basketIn, changedBy, stored, store}) => {
    // Milliseconds after which a page that draws itself is expected to have done so, and between looks.
    const SETTLED = 1500, EVERY = 150, DRAWS = 30, LONGEST = 120;
    let letGo = [], isDone = false, draws = 0, why = "no_item";
    const known = () => ({titles: [], ...stored()});
    const isOf = (anchor) => {
        const place = placeOf(anchor);
        if (!place) return false;
        const {origin, pathname, search} = place;
        const path = pathname.replace(/\/+$/, "");
        return origin === location.origin && settings.items.some((it) => it.query ? path === it.path && search.slice(1) === it.query : path === it.path || path.startsWith(`${it.path}/`));
    };
    const anchorsIn = (root) => [...root.querySelectorAll("a[href]")].filter(isOf);
    const titleOf = (anchor) => {
        const named = anchor.querySelector("h1,h2,h3,h4,h5,h6,[class*=name i],[class*=title i]") || anchor;
        return plain(named.textContent);
    };
    // A list tells what an item is called, by which a basket without links has it.
    const learn = () => {
        const all = known(), found = anchorsIn(document).map(titleOf).filter((it) => it.length > 2 && it.length < LONGEST && /\p{L}/u.test(it));
        const titles = [...new Set([...all.titles, ...found])].slice(0, 20);
        if (titles.length > all.titles.length) store({...all, titles});
        return titles;
    };
    const holderOf = (row, titles) => anchorsIn(row).find((it) => plain(it.textContent)) || [...row.querySelectorAll("*")].find((it) => titles.includes(plain(it.textContent)));
    const strike = (row, amounts) => {
        for (const {element} of amounts.filter((it) => row.contains(it.element))) element.style.textDecoration = "line-through";
    };
    const begin = () => {
        const titles = learn(), root = rootOf();
        if (!isReady(root)) return null;
        const amounts = amountsIn(document.body);
        const basket = isBasketPage() && basketIn(root, amountsIn(root));
        if (basket) {
            const gone = basket.rows.map((row) => [row, holderOf(row, titles)]).filter(([, holder]) => holder);
            if (!gone.length) return null;
            const totals = changedBy(basket);
            if (!totals) return "unexplained";
            let minus = 0;
            for (const [row, holder] of gone) {
                minus += Math.max(...basket.lines[basket.rows.indexOf(row)].map((it) => it.cents));
                const said = speak(settings.words).gone, mark = make("strong", {display: "block"}, said);
                note("item", plain(holder.textContent), said);
                strike(row, amounts);
                letGo.push(keep(mark, "shown", () => { if (holder.isConnected && isReady(holder)) holder.after(mark); }));
            }
            const pairs = totals.map((it) => [it.cents, it.cents - minus]);
            for (const amount of amounts) {
                const pair = pairs.find(([was]) => was === amount.cents);
                if (!pair || basket.rows.some((row) => row.contains(amount.element))) continue;
                const isTotal = totals.some((it) => it.element === amount.element) || TOTAL.test(labelOf(amount, amounts)) || amount.element.closest("button,header,[class*=total i]");
                if (isTotal) put(amount, pair[1]);
            }
            store({...known(), pairs, sum: basket.sum, minus});
            return "struck";
        }
        const {pairs, sum, minus} = known();
        if (!pairs) return null;
        // What follows the basket: the same totals, and those that add to them here.
        const all = amounts.map((it) => it.cents);
        let changed = null;
        for (const amount of amounts) {
            const isTotal = TOTAL.test(labelOf(amount, amounts)) || amount.element.closest("button,[class*=total i]");
            const isMore = amount.cents > sum && all.includes(amount.cents - sum);
            if (!isTotal || !(pairs.some(([was]) => was === amount.cents) || isMore)) continue;
            put(amount, amount.cents - minus);
            changed = amount.element;
        }
        if (!changed) return null;
        whenSeen(changed, () => tell("shown"), {anywhere: true, stands: () => changed.isConnected});
        return "followed";
    };
    const look = () => {
        if (isDone) {
            // A page that draws its totals anew has them changed anew.
            if (!isRedrawn() || ++draws > DRAWS) return;
            for (const end of letGo) end();
            letGo = [];
            restore();
        }
        const outcome = begin();
        isDone = outcome === "struck" || outcome === "followed";
        if (outcome === "unexplained") why = outcome;
    };
    often(look, EVERY);
    look();
    later(() => {
        if (!isDone) tell("nothing", null, why);
    }, SETTLED);
}
