// The look of the page's own buttons, for what stands for a part of the site.
(settings, kit) => {
    const READABLE = 2.5, DISTINCT = 1.6;
    const isSolid = (colour) => Boolean(colour) && !/^(?:transparent|rgba\(.*, 0\))$/.test(colour);
    const luminance = (colour) => {
        const [red, green, blue] = (colour.match(/[\d.]+/g) || [0, 0, 0]).map(Number).map((it) => (it / 255) ** 2.2);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    const groundOf = () => [document.querySelector("main,[role=main]"), document.body, document.documentElement].filter(Boolean).map((it) => getComputedStyle(it).backgroundColor).find(isSolid) || "rgb(255, 255, 255)";
    // Return the first button with words that can be read and stands out from the page; null for none.
    const mainButton = () => [...document.querySelectorAll("button,a[class*=btn i],a[class*=button i],input[type=submit]")].find((it) => {
        if (!it.checkVisibility({visibilityProperty: true, opacityProperty: true}) || !/\p{L}{2}/u.test(it.innerText || it.value || "") || it.clientWidth < 9) return false;
        const {backgroundColor, color} = getComputedStyle(it);
        const isOwn = it.className || backgroundColor !== "rgb(239, 239, 239)";
        return isOwn && isSolid(backgroundColor) && contrast(backgroundColor, groundOf()) > DISTINCT && contrast(color, backgroundColor) > READABLE;
    }) || null;
    return {...kit, mainButton, groundOf};
}
