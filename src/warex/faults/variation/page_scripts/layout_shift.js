// Bars above the content, each some time after the page's load.
({bars}, {speak, mark, make, watch, add, later, natives}) => {
    watch(() => {});
    for (const {words, after, style} of bars) {
        later(() => {
            const bar = mark(make("div", style, speak(words).bar), words);
            bar.setAttribute("role", "note");
            add(bar, () => natives.body(document).prepend(bar));
        }, after);
    }
}
