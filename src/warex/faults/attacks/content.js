// Where the page's own content is, and what is added looks as if it belonged there.
(settings, kit) => {
    const {natives} = kit;
    const AROUND = "header,nav,aside,footer,dialog,[role=banner],[role=navigation],[role=dialog],[role=complementary]";
    // Pixels of what holds more than a heading.
    const LEAST = 160;
    const main = () => {
        const body = natives.body(document);
        const [named] = natives.all(document, "main, [role=main]");
        if (named) return named;
        try {
            const heading = [...natives.all(document, "h1, h2, h3")].find((it) => natives.isRendered(it) && !natives.closest(it, AROUND));
            let content = heading && natives.parent(heading);
            while (content && content !== body && natives.depth(content) < LEAST) content = natives.parent(content);
            return content && natives.contains(body, content) ? content : body;
        } catch (error) {
            return body;
        }
    };
    return {...kit, main};
}
