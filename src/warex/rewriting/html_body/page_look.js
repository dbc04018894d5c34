// The look of the page and of its own buttons, for what stands for a part of the site. On a page that
// works against it, there is none.
(settings, kit) => {
    const {natives} = kit;
    const READABLE = 2.5, DISTINCT = 1.6;
    const SEEN = {__proto__: null, visibilityProperty: true, opacityProperty: true};
    const attempt = (read, otherwise) => {
        try {
            return read();
        } catch (error) {
            return otherwise;
        }
    };
    const styleOf = (element, name) => natives.styled(natives.style(element), name);
    const isSolid = (colour) => Boolean(colour) && !/^(?:transparent|.*[,/] 0\))$/.test(colour);
    const luminance = (colour) => {
        const [one, two, three] = (colour.match(/(?<!\w)-?[\d.]+/g) || [0, 0, 0]).map(Number);
        // Of lightness alone (Oklab, CIELAB), or of red, green and blue.
        if (colour.startsWith("ok")) return one ** 3;
        if (colour.startsWith("l")) return ((one + 16) / 116) ** 3;
        const [red, green, blue] = [one, two, three].map((it) => (it / (colour.startsWith("color") ? 1 : 255)) ** 2.2);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    // Return the colour behind the content, and the element that has it: the page's, unless it is white.
    const ground = () => {
        const holders = [natives.all(document, "main,[role=main]")[0], natives.body(document), natives.root(document)].filter(Boolean);
        const holder = holders.find((it) => isSolid(styleOf(it, "background-color")));
        return holder ? {holder, colour: styleOf(holder, "background-color")} : {holder: natives.body(document), colour: "rgb(255, 255, 255)"};
    };
    const isMain = (button, behind) => {
        const text = natives.tag(button) === "input" ? natives.attribute(button, "value") || "" : natives.innerText(button);
        if (!natives.isRendered(button, SEEN) || !/\p{L}{2}/u.test(text) || natives.breadth(button) < 9) return false;
        const colour = styleOf(button, "background-color");
        const isOwn = natives.attribute(button, "class") || colour !== "rgb(239, 239, 239)";
        return isOwn && isSolid(colour) && contrast(colour, behind) > DISTINCT && contrast(styleOf(button, "color"), colour) > READABLE;
    };
    // Return the first button with words that can be read and stands out from the page; null for none.
    const mainButton = () => attempt(() => {
        const behind = ground().colour;
        const buttons = [...natives.all(document, "button,a[class*=btn i],a[class*=button i],input[type=submit]")];
        return buttons.find((it) => attempt(() => isMain(it, behind), false)) || null;
    }, null);
    // Return the colours and letters of the site, as far as they are known and can be read.
    const siteLook = () => attempt(() => {
        const {holder, colour} = ground();
        const look = {background: colour, ink: styleOf(holder, "color"), font: styleOf(holder, "font-family")};
        if (contrast(look.ink, colour) < READABLE) return {};
        const button = mainButton();
        return button ? {...look, accent: styleOf(button, "background-color"), onAccent: styleOf(button, "color"), round: styleOf(button, "border-radius")} : look;
    }, {});
    return {...kit, mainButton, siteLook};
}
