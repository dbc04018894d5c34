// One more style sheet, behind the page's own.
({css}, {watch, changed}) => {
    if (!css) return watch(() => {});
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    watch(() => {
        if (document.adoptedStyleSheets.includes(sheet)) return;
        document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
        changed(document.body, () => document.adoptedStyleSheets.includes(sheet));
    });
}
