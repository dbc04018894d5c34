// Where the page's own content is, and what is added looks as if it belonged there.
(settings, kit) => {
    const AROUND = "header,nav,aside,footer,dialog,[role=banner],[role=navigation],[role=dialog],[role=complementary]";
    // Pixels of what holds more than a heading.
    const LEAST = 160;
    const main = () => {
        const named = document.querySelector("main, [role=main]");
        if (named) return named;
        const heading = [...document.querySelectorAll("h1, h2, h3")].find((it) => it.checkVisibility() && !it.closest(AROUND));
        let content = heading && heading.parentElement;
        while (content && content !== document.body && content.clientHeight < LEAST) content = content.parentElement;
        return content && document.body.contains(content) ? content : document.body;
    };
    return {...kit, main};
}
