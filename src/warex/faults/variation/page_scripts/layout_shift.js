// Bars above the content, each some time after the page's load.
({bars}, {make, watch, changed}) => {
    const there = [];
    const put = () => {
        for (const bar of there) {
            if (bar.isConnected || !document.body) continue;
            document.body.prepend(bar);
            changed(bar);
        }
    };
    watch(put);
    for (const {text, after, style} of bars) {
        setTimeout(() => {
            const bar = make("div", style, text);
            bar.setAttribute("role", "note");
            there.push(bar);
            put();
        }, after);
    }
}
