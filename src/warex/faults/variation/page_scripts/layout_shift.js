// Bars above the content, each some time after the page's load.
({bars}, {speak, mark, make, watch, add, later}) => {
    watch(() => {});
    for (const {words, after, style} of bars) {
        later(() => {
            const bar = mark(make("div", style, speak(words).bar), words);
            bar.setAttribute("role", "note");
            add(bar, () => document.body.prepend(bar));
        }, after);
    }
}
