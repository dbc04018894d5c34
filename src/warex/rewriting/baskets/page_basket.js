// What a page shows of a basket: amounts of money, the rows of its items, and the totals that add up. Each
// amount can be written anew as the page writes it, and what was written can be taken back.
(settings, kit) => {
    const {note} = kit;
    const MOST = 3000;
    const BASKET = /cart|basket|\bbag\b|checkout|order|trolley|warenkorb|einkaufswagen|kasse|bestell|panier|commande|carrito|cesta|pedido|carrello|ordine|carrinho|winkelwagen|winkelmand|bestelling|koszyk|zam\u00f3wieni|\u043a\u043e\u0440\u0437\u0438\u043d|\u0437\u0430\u043a\u0430\u0437|sepet|\u30ab\u30fc\u30c8|\u6ce8\u6587|\u8d2d\u7269\u8f66|\u7ed3\u7b97|\u8ba2\u5355|\uc7a5\ubc14\uad6c\ub2c8|\uc8fc\ubb38|\u0633\u0644\u0629|\u05e1\u05dc|\u05e2\u05d2\u05dc/i;
    const TOTAL = /total|sum\b|subtotal|amount due|to pay|summe|gesamt|betrag|somme|importe|a pagar|totale|totaal|razem|suma|\u0438\u0442\u043e\u0433|\u0441\u0443\u043c\u043c\u0430|toplam|\u5408\u8a08|\u5c0f\u8a08|\u603b|\u5408\u8ba1|\u5c0f\u8ba1|\ud569\uacc4|\ucd1d|\u0627\u0644\u0645\u062c\u0645\u0648\u0639|\u05e1\u05d4["\u05f4]?\u05db/i;
    const CHECKOUT = /check ?out|place.*order|buy now|\bpay\b|kasse|bestellen|kaufen|bezahlen|commander|payer|comprar|pagar|acquista|paga|finalizar|bestelling|betalen|zam\u00f3w|zap\u0142a\u0107|\u043e\u0444\u043e\u0440\u043c\u0438\u0442\u044c|\u043e\u043f\u043b\u0430\u0442|sat\u0131n al|\u00f6deme|\u6ce8\u6587|\u8cfc\u5165|\u8d2d\u4e70|\u652f\u4ed8|\u7ed3\u7b97|\uacb0\uc81c|\u0634\u0631\u0627\u0621|\u062f\u0641\u0639|\u05ea\u05e9\u05dc\u05d5\u05dd/i;
    const SIGNS = "[$\u20ac\u00a3\u00a5\u20b9\u20a9\u20bd\u20ba\u20aa\u20ab\u20b4\u0e3f\u5186\u5143]|USD|EUR|GBP|JPY|CHF|CAD|AUD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|INR|KRW|CNY|R\\$|kr\\.?|z\u0142|K\u010d|Ft|lei|\u0631\\.\u0633|\u062f\\.\u0625";
    const AMOUNT = "\\d{1,3}(?:[.,\u00a0\u202f' ]\\d{3})+(?:[.,]\\d{1,2})?|\\d+(?:[.,]\\d{1,2})?";
    const MONEY = new RegExp(`(?:(${SIGNS})\\s?)(${AMOUNT})|(${AMOUNT})(?:\\s?(${SIGNS}))`, "g");
    const plain = (text) => text.replace(/\s+/g, " ").trim();
    // Return what an element says, with the nodes that hold it, and a point before small cents.
    const joint = (element) => {
        const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), parts = [];
        let says = "";
        while (walker.nextNode()) {
            const node = walker.currentNode, holder = node.parentElement;
            if (holder.closest("script,style,select,textarea,template")) continue;
            if (/\d$/.test(says) && /^\s*\d{2}\s*$/.test(node.data) && holder !== element && (holder.closest("sup") || /cent|fraction|decimal/i.test(holder.className))) says += ".";
            parts.push({node, at: says.length, size: node.data.length});
            says += node.data;
        }
        return {says, parts};
    };
    const read = (written) => {
        const part = /[.,](\d{1,2})$/.exec(written), whole = part ? written.slice(0, part.index) : written;
        return {cents: Math.round(Number(`${whole.replace(/\D/g, "")}.${part ? part[1] : "0"}`) * 100), places: part ? part[1].length : 0, sign: part ? part[0][0] : "", groups: (/[^\d]/.exec(whole) || [""])[0]};
    };
    const write = (cents, like) => {
        const [whole, part] = (cents / 100).toFixed(like.places).split(".");
        const groups = like.groups || (whole.length > 3 && like.cents < 100000 ? (like.sign === "," ? "." : ",") : "");
        return whole.replace(/\B(?=(\d{3})+$)/g, groups) + (part ? like.sign + part : "");
    };
    // Return the amounts that a part of the page shows, each in the smallest element that holds it whole.
    const amountsIn = (root, isShown = true) => {
        const found = [];
        let count = 0;
        const visit = (element) => {
            if (++count > MOST || element.matches("script,style,template,select,textarea,svg")) return false;
            const {says, parts} = joint(element);
            if (!/\d/.test(says)) return false;
            const matches = [...says.matchAll(MONEY)];
            if (!matches.length) return false;
            let inner = 0;
            for (const child of element.children) if (visit(child)) inner++;
            if (inner) return true;
            if (matches.length === 1 && !(isShown && !element.checkVisibility({visibilityProperty: true}))) {
                const [match] = matches, written = match[2] || match[3], start = match.index + match[0].indexOf(written);
                found.push({element, parts, says, match: match[0], currency: match[1] || match[4], start, end: start + written.length, ...read(written)});
            }
            return true;
        };
        visit(root);
        return found;
    };
    // Write another amount where one stands; the first node that holds some of it takes the difference.
    const rewritten = new Map();
    const put = (amount, cents, isKept = true, what = "total") => {
        const given = write(cents, amount);
        if (isKept) note(what, amount.match, amount.match.replace(amount.says.slice(amount.start, amount.end), given));
        const parts = amount.parts.filter(({at, size}) => at < amount.end && at + size > amount.start);
        parts.forEach(({node, at, size}, nth) => {
            const begin = Math.max(amount.start, at), stop = Math.min(amount.end, at + size);
            const from = nth ? Math.max(0, given.length - (amount.end - begin)) : 0;
            const to = nth === parts.length - 1 ? given.length : Math.max(from, given.length - (amount.end - stop));
            const was = rewritten.has(node) ? rewritten.get(node).was : node.data;
            node.data = node.data.slice(0, begin - at) + given.slice(from, to) + node.data.slice(stop - at);
            if (isKept) rewritten.set(node, {was, put: node.data});
        });
    };
    const restore = () => {
        for (const [node, {was, put}] of rewritten) if (node.isConnected && node.data === put) node.data = was;
        rewritten.clear();
    };
    const rootOf = () => document.querySelector("main, [role=main]") || document.body;
    const isBasketPage = () => BASKET.test(location.pathname) || BASKET.test(document.title) || [...document.querySelectorAll("h1,h2")].some((it) => BASKET.test(it.textContent));
    // Return what stands beside an amount and beside no other.
    const labelOf = (amount, amounts) => {
        let said = "";
        for (let at = amount.element, depth = 0; at && depth < 4; at = at.parentElement, depth++) {
            const text = plain(at.textContent);
            if (text.length > 90 || amounts.some((other) => other !== amount && at !== amount.element && at.contains(other.element))) break;
            said = text;
            const before = at.previousElementSibling;
            if (before && plain(before.textContent).length < 60) said += ` ${plain(before.textContent)}`;
        }
        return said;
    };
    // Whether some of the amounts, added or taken away, come to a rest.
    const explains = (rest, extras) => {
        const sums = new Set([0]);
        for (const {cents} of extras.slice(0, 8)) for (const known of [...sums]) sums.add(known + cents).add(known - cents);
        return sums.has(rest);
    };
    // Return the amounts of the part of the page in which a sum stands with others, without the rows.
    const summaryAround = (amount, others, rows) => {
        let around = amount.element, found = [amount];
        for (let depth = 0; around.parentElement && depth < 6; around = around.parentElement, depth++) {
            const parent = around.parentElement;
            if (rows.some((row) => parent.contains(row))) {
                // Beside the rows, as rows of a table's foot or paragraphs, are its amounts, too.
                const beside = others.filter((other) => parent.contains(other.element));
                return found.length > 1 ? found : beside;
            }
            found = others.filter((other) => parent.contains(other.element));
        }
        return found;
    };
    // Return the rows of a basket and what its lines come to; null where there is none that adds up.
    const basketIn = (root, amounts) => {
        const tried = new Set();
        for (const {element} of amounts) {
            for (let row = element, depth = 0; row !== root && row.parentElement && depth < 6; row = row.parentElement, depth++) {
                const list = row.parentElement;
                if (tried.has(list)) continue;
                tried.add(list);
                const look = `${row.localName} ${row.className}`;
                const rows = [...list.children].filter((it) => `${it.localName} ${it.className}` === look && amounts.some((amount) => it.contains(amount.element)));
                if (!rows.length || row.matches("td,th,dt,dd,span,b,strong,p,a,label,h1,h2,h3,h4")) continue;
                const lines = rows.map((it) => amounts.filter((amount) => it.contains(amount.element)));
                if (rows.some((it) => TOTAL.test(plain(it.textContent)) || !/\p{L}/u.test(it.textContent))) continue;
                const sum = lines.reduce((cents, line) => cents + Math.max(...line.map((amount) => amount.cents)), 0);
                const others = amounts.filter((amount) => !rows.some((it) => it.contains(amount.element)));
                if (!sum) continue;
                for (const equal of others.filter((amount) => amount.cents === sum)) {
                    const sums = summaryAround(equal, others, rows);
                    const totals = sums.filter((amount) => amount.cents === sum || TOTAL.test(labelOf(amount, amounts)));
                    const extras = sums.filter((amount) => !totals.includes(amount));
                    // What is more than the sum by what stands beside it is a total, whatever it is called.
                    const grand = extras.find((amount) => amount.cents > sum && explains(amount.cents - sum, extras.filter((other) => other !== amount)));
                    if (!grand && !totals.some((amount) => TOTAL.test(labelOf(amount, amounts)))) continue;
                    return {rows, lines, sum, totals: grand ? [...totals, grand] : totals, extras: extras.filter((amount) => amount !== grand)};
                }
            }
        }
        return null;
    };
    // Return the totals that an item changes; null where one is more than its parts explain.
    const changedBy = ({sum, totals, extras}) => totals.every((amount) => amount.cents === sum || explains(amount.cents - sum, extras)) ? totals : null;
    const STORE = settings.store;
    const stored = () => {
        try {
            return JSON.parse(sessionStorage.getItem(STORE)) || null;
        } catch (error) {
            return null;
        }
    };
    const store = (value) => {
        try {
            if (value) sessionStorage.setItem(STORE, JSON.stringify(value));
            else sessionStorage.removeItem(STORE);
        } catch (error) {
            // A page without storage does not remember.
        }
    };
    // Return where a link leads; null for an address that is none.
    const placeOf = (anchor) => {
        try {
            return new URL(anchor.href, location.href);
        } catch (error) {
            return null;
        }
    };
    // Whether the page has drawn anew what was written.
    const isRedrawn = () => [...rewritten].some(([node, {put}]) => !node.isConnected || node.data !== put);
    return {...kit, BASKET, TOTAL, CHECKOUT, plain, amountsIn, placeOf, put, restore, isRedrawn, rootOf, isBasketPage, labelOf, explains, basketIn, changedBy, stored, store};
}
