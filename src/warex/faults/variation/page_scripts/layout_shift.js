// Bars above the content, each some time after the page's load.
({bars}, {make, watch, add, later}) => {
    watch(() => {});
    for (const {text, after, style} of bars) {
        later(() => {
            const bar = make("div", style, text);
            bar.setAttribute("role", "note");
            add(bar, () => document.body.prepend(bar));
        }, after);
    }
}
