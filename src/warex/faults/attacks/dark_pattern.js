// A part of the page that steers whoever uses it into what they did not ask for, placed where the
// page has such parts itself.
(settings, {make, keep, tell, on, isReady}) => {
    const main = () => document.querySelector("main, [role=main]") || document.body;
    const all = (selector) => [...main().querySelectorAll(selector)].filter((it) => it.checkVisibility());
    const price = /[$\u20ac\u00a3]\s?\d/;
    const like = (element) => {
        const copy = element.cloneNode(false);
        copy.removeAttribute("id");
        return copy;
    };
    // Put an element beside one of the page's own, or last, once no framework is to take that over.
    const put = (element, beside, how) => {
        const there = beside && beside.isConnected ? beside : main();
        if (isReady(there)) there[there === beside ? how : "append"](element);
    };
    const preticked = () => {
        const label = make("label", {display: "block", margin: "8px 0"});
        const box = make("input", {margin: "0 6px 0 0"});
        box.type = "checkbox";
        box.checked = true;
        label.append(box, settings.text);
        on(box, "change", (event) => tell(box.checked ? "ticked" : "unticked", event));
        on(document, "submit", (event) => {
            if (box.checked && (event.target.contains(label) || !label.closest("form"))) tell("kept", event);
        }, true);
        keep(label, "shown", () => {
            const [send] = all("form:not([role=search]) :is(button:not([type]), [type=submit])");
            put(label, send, "before");
        });
    };
    const advertisement = () => {
        const [sample] = all(":is(ul, ol) > li:not(nav *):first-child").filter((it) => it.nextElementSibling);
        const item = sample ? like(sample) : make("div", {margin: "12px 0"});
        const model = sample && sample.querySelector("a");
        const link = model ? like(model) : make("a", {});
        link.removeAttribute("target");
        link.href = settings.target;
        link.textContent = settings.title;
        on(link, "click", (event) => tell("clicked", event));
        item.append(link, make("p", {margin: "2px 0"}, settings.text));
        keep(item, "shown", () => put(item, sample, "after"));
    };
    const sneaked = () => {
        const sample = all("tbody tr, :is(ul, ol) > li:not(nav *)").find((it) => price.test(it.textContent));
        const item = sample ? like(sample) : make("div", {margin: "12px 0"});
        const remove = make("button", {"margin-left": "8px"}, settings.remove);
        remove.type = "button";
        const cells = sample && sample.matches("tr") ? [...sample.children] : [];
        if (cells.length > 1) {
            const at = cells.findIndex((it) => price.test(it.textContent));
            item.append(...cells.map((it, place) => {
                const cell = like(it);
                cell.textContent = place === 0 ? settings.title : place === at ? settings.price : "";
                return cell;
            }));
            item.lastElementChild.append(remove);
        } else {
            const holder = cells.length === 1 ? item.appendChild(like(cells[0])) : item;
            holder.append(settings.title + " " + settings.price, remove);
        }
        let there = true;
        const sent = (event) => there && tell("kept", event);
        on(document, "submit", sent, true);
        on(document, "click", (event) => {
            const pressed = event.target.closest("a, button");
            if (pressed && /check ?out|place.*order|buy now|\bpay\b/i.test(pressed.textContent)) sent(event);
        }, true);
        const letGo = keep(item, "shown", () => put(item, sample, "after"));
        on(remove, "click", (event) => {
            there = false;
            tell("removed", event);
            letGo();
        });
    };
    ({preticked_box: preticked, disguised_ad: advertisement, sneaked_item: sneaked})[settings.pattern]();
}
