// Tells when a person who looks at the page sees an element. Chromium's own answer (Intersection
// Observer 2, `trackVisibility`) comes first. Where that says no, since it does so too for whatever is
// turned, scaled or a little transparent, styles and points are looked at.
(natives) => {
    const {match, style, styled, now} = natives;
    // Pixels, opacity and contrast (WCAG 2) below which nothing is seen; shares of an element.
    const SMALLEST = 4, FAINT = 0.3, CONTRAST = 1.15, COVERED = 0.4, MOST_TEXTS = 12, MOST_ELEMENTS = 3000;
    // Milliseconds between looks, between those that take longer, and for which it must stand: two frames.
    const EVERY = 100, RARELY = 400, DELAY = 100, STANDS = 34;
    const COLOUR = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;
    const HARMLESS = /^(?:(?:drop-shadow|grayscale|sepia|saturate|hue-rotate|invert)\((?:[^()]|\([^()]*\))*\)\s*)+$/;
    const PAINTS = /^(?:img|video|canvas|iframe|svg|object|embed|input|button|select|textarea)$/;
    const FIELDS = /^(?:input|select|textarea)$/;
    const ELEMENT = 1, TEXT = 3, FRAGMENT = 11, SHOW_TEXT = 4;
    const valueOf = (element, name) => styled(style(element), name);
    // Return the element around another one, as the page is laid out.
    const around = (element) => {
        const slot = natives.slot(element);
        if (slot) return slot;
        const parent = natives.parent(element);
        if (!parent) return null;
        const kind = natives.kind(parent);
        if (kind === ELEMENT) return parent;
        try {
            return kind === FRAGMENT ? natives.host(parent) : null;
        } catch (error) {
            return null;
        }
    };
    const edges = (box) => ({left: natives.left(box), top: natives.top(box), right: natives.right(box), bottom: natives.bottom(box)});
    const common = (one, other) => ({
        left: natives.most(one.left, other.left),
        top: natives.most(one.top, other.top),
        right: natives.least(one.right, other.right),
        bottom: natives.least(one.bottom, other.bottom),
    });
    const isLarge = (area) => area.right - area.left >= SMALLEST && area.bottom - area.top >= SMALLEST;
    // Return the part of an area in an element that can be looked at: in the window, or with
    // `anywhere` wherever the page itself can be scrolled to. What another scroller holds back is not.
    const inSight = (area, element, anywhere) => {
        const root = natives.root(document), body = natives.body(document);
        let isFixed = false, isAbsolute = false;
        for (let at = element; at && at !== root && !isFixed; at = around(at)) {
            const position = valueOf(at, "position");
            const clips = at !== body && !(isAbsolute && position === "static") && valueOf(at, "overflow-x") !== "visible";
            if (clips && at !== element) area = common(area, edges(natives.box(at)));
            if (position !== "static") isAbsolute = position === "absolute";
            isFixed = position === "fixed";
        }
        if (!anywhere || isFixed) return common(area, {left: 0, top: 0, right: natives.viewWidth(), bottom: natives.viewHeight()});
        const left = -natives.scrollX(), top = -natives.scrollY();
        const right = left + natives.most(natives.width(root), body ? natives.width(body) : 0);
        return common(area, {left, top, right, bottom: top + natives.most(natives.height(root), body ? natives.height(body) : 0)});
    };
    const colourOf = (text) => {
        const found = match(COLOUR, text);
        return found && {red: +found[1], green: +found[2], blue: +found[3], alpha: found[4] === undefined ? 1 : +found[4]};
    };
    const mixed = (over, under) => {
        const part = (name) => over[name] * over.alpha + under[name] * (1 - over.alpha);
        return {red: part("red"), green: part("green"), blue: part("blue"), alpha: 1};
    };
    const luminance = ({red, green, blue}) => {
        const linear = (value) => value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4;
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    };
    // Return the colour behind an element's text; null where it is not known, as over a picture.
    const ground = (element) => {
        if (!element) return {red: 255, green: 255, blue: 255, alpha: 1};
        const colour = colourOf(valueOf(element, "background-color"));
        if (!colour || valueOf(element, "background-image") !== "none") return null;
        if (colour.alpha === 1) return colour;
        const under = ground(around(element));
        return under && mixed(colour, under);
    };
    const contrasts = (holder) => {
        const ink = colourOf(valueOf(holder, "-webkit-text-fill-color"));
        const under = ground(holder);
        if (!ink || !under || valueOf(holder, "text-shadow") !== "none") return ink === null || ink.alpha > 0.1 || under === null;
        const one = luminance(mixed(ink, under)), other = luminance(under);
        return (natives.most(one, other) + 0.05) / (natives.least(one, other) + 0.05) >= CONTRAST;
    };
    const isLegible = (node, holder, anywhere) => {
        if (valueOf(holder, "visibility") !== "visible" || natives.number(match(/^[\d.]*/, valueOf(holder, "font-size"))[0]) < SMALLEST) return false;
        const range = natives.range(document);
        natives.select(range, node);
        return isLarge(inSight(edges(natives.boxOfRange(range)), holder, anywhere)) && contrasts(holder);
    };
    // Whether an element has a place and a size, and half of its texts can be read there.
    const hasPlace = (element, anywhere) => {
        if (!natives.isConnected(element) || !natives.isRendered(element, {__proto__: null, visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: false})) return false;
        const walker = natives.textsIn(document, element, SHOW_TEXT);
        let texts = 0, legible = 0;
        for (let node = natives.nextText(walker); node && texts < MOST_TEXTS; node = natives.nextText(walker)) {
            const holder = natives.parent(node);
            if (!natives.trim(natives.textOf(node)) || !natives.isRendered(holder) || match(/^(?:script|style|option)$/, natives.tag(holder))) continue;
            texts += 1;
            if (isLegible(node, holder, anywhere)) legible += 1;
        }
        if (texts && !match(FIELDS, natives.tag(element))) return legible * 2 >= texts;
        return isLarge(inSight(edges(natives.box(element)), element, anywhere));
    };
    // How an element's own and its surroundings' styles alter it: "none", "some" or "hidden".
    const alteration = (element) => {
        let opacity = 1, isAltered = false;
        for (let at = element; at; at = around(at)) {
            opacity *= natives.number(valueOf(at, "opacity"));
            const filter = valueOf(at, "filter");
            if (filter !== "none" && !match(HARMLESS, filter)) return "hidden";
            if (valueOf(at, "mix-blend-mode") !== "normal" || valueOf(at, "clip-path") !== "none") return "hidden";
            isAltered = isAltered || filter !== "none" || valueOf(at, "transform") !== "none" || valueOf(at, "rotate") !== "none" || valueOf(at, "scale") !== "none";
        }
        return opacity < FAINT ? "hidden" : isAltered || opacity < 1 ? "some" : "none";
    };
    const isOpaque = (styles) => {
        if (natives.number(styled(styles, "opacity")) < 0.1 || styled(styles, "visibility") !== "visible") return false;
        const colour = colourOf(styled(styles, "background-color"));
        return !colour || colour.alpha > 0.1 || styled(styles, "background-image") !== "none" || styled(styles, "backdrop-filter") !== "none";
    };
    const paints = (element) => isOpaque(style(element)) || (match(PAINTS, natives.tag(element)) !== null && valueOf(element, "visibility") === "visible");
    const paintsMore = (element) => {
        const isGenerated = (part) => {
            const styles = style(element, part);
            return styled(styles, "content") !== "none" && isOpaque(styles);
        };
        return isGenerated("::before") || isGenerated("::after");
    };
    const isMasked = (element) => {
        for (let at = element; at; at = around(at)) if (valueOf(at, "mask-image") !== "none") return true;
        return false;
    };
    const isApart = (element, other) => !natives.contains(element, other) && !natives.contains(other, element);
    // What stands before an element: "nothing", "something" that leaves most of it in sight, "cover".
    const before = (element) => {
        const area = inSight(edges(natives.box(element)), element, false), points = 25;
        let covered = 0, isTouched = false;
        for (let point = 0; point < points; point++) {
            const x = area.left + (area.right - area.left) * ((point % 5) + 0.5) / 5;
            const y = area.top + (area.bottom - area.top) * (((point / 5) | 0) + 0.5) / 5;
            const hits = natives.at(document, x, y);
            for (let at = 0; at < hits.length && !natives.contains(element, hits[at]); at++) {
                isTouched = true;
                // What is around it is before it where something that it generates is.
                if (natives.contains(hits[at], element) ? !paintsMore(hits[at]) : !paints(hits[at])) continue;
                covered += 1;
                break;
            }
        }
        if (covered > points * COVERED) return "cover";
        // What lets clicks through is not found by points.
        const others = natives.all(document, "*");
        for (let at = 0; at < others.length && at < MOST_ELEMENTS; at++) {
            const other = others[at];
            if (valueOf(other, "pointer-events") !== "none" || valueOf(other, "position") === "static" || !isApart(element, other)) continue;
            const part = common(area, edges(natives.box(other)));
            if (isLarge(part) && paints(other)) return "cover";
            isTouched = isTouched || isLarge(part);
        }
        return isTouched ? "something" : "nothing";
    };
    const isSeenBySecondLook = (element, answers) => {
        const altered = alteration(element);
        if (altered === "hidden") return false;
        const there = before(element);
        // The browser had a reason to say no: it is one that a person would not notice, or is not known.
        return there !== "cover" && (!answers || altered === "some" || there === "something");
    };
    // Call `then` once an element is seen, while `stands` holds: what was changed is as it was put.
    // Return what ends the watch. With `anywhere` it is also seen where the page can be scrolled to.
    // What a device presses is seen at once: an agent may close it before Chromium's own answer comes.
    return (element, then, {anywhere = false, stands = () => true} = {}) => {
        const answers = natives.Intersections && natives.isVisible;
        let isVisible = !natives.Intersections, isInView = isVisible, isAnswered = isVisible, looked = -RARELY, isOver = false;
        const began = now();
        const look = () => {
            if (isOver || !isAnswered || now() - began < STANDS || !stands() || !hasPlace(element, anywhere) || isMasked(element)) return;
            if (!(isInView && isVisible && answers)) {
                if (!isInView && !anywhere) return;
                const at = now();
                if (at - looked < RARELY) return;
                looked = at;
                if (isInView ? !isSeenBySecondLook(element, answers) : alteration(element) === "hidden") return;
            }
            end();
            then();
        };
        const press = (event) => {
            if (isOver || !event.isTrusted || !stands() || !hasPlace(element, anywhere) || isMasked(element) || !isSeenBySecondLook(element, false)) return;
            end();
            then();
        };
        natives.on(element, "pointerdown", press, {__proto__: null, capture: true, passive: true});
        let observer = null;
        const options = {__proto__: null, threshold: 0};
        if (answers) {
            options.trackVisibility = true;
            options.delay = DELAY;
        }
        if (natives.Intersections) {
            observer = new natives.Intersections((entries) => {
                const last = entries[entries.length - 1];
                isAnswered = true;
                isInView = natives.isIntersecting(last);
                isVisible = answers ? natives.isVisible(last) : isInView;
                look();
            }, options);
            natives.observe(observer, element);
        }
        const timer = natives.often(look, EVERY);
        const end = () => {
            isOver = true;
            natives.stop(timer);
            if (observer) natives.unobserve(observer);
        };
        natives.later(look, STANDS + 1);
        return end;
    };
}
