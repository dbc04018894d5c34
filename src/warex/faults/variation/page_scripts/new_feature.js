// What was not there before: each stays until its button is clicked.
({added}, {make, watch, changed, tell}) => {
    const there = new Map();
    const put = () => {
        for (const [box, top] of there) {
            if (box.isConnected || !document.body) continue;
            if (top) document.body.prepend(box);
            else document.body.append(box);
            changed(box);
        }
    };
    for (const {text, close, style, top} of added) {
        const box = make("aside", style);
        const button = make("button", {"margin-left": "12px"}, close);
        button.type = "button";
        button.addEventListener("click", () => {
            tell("dismissed");
            there.delete(box);
            box.remove();
        });
        box.append(make("span", {}, text), button);
        there.set(box, top);
    }
    watch(put);
}
