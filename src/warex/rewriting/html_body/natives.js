// What the browser itself offers, taken before any script of the page could replace it. Methods and
// getters are functions whose first argument is the object.
() => {
    const uncurried = Function.prototype.bind.bind(Function.prototype.call);
    const method = (owner, name) => uncurried(owner.prototype[name]);
    const property = (holder, name) => uncurried(Object.getOwnPropertyDescriptor(holder, name).get);
    const getter = (owner, name) => property(owner.prototype, name);
    const numberAsText = method(Number, "toString");
    const forms = {__proto__: null};
    for (const kind of [HTMLButtonElement, HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement]) {
        forms[kind.name.slice(4, -7).toLowerCase()] = getter(kind, "form");
    }
    const localName = getter(Element, "localName");
    const ofWindow = (name) => {
        const read = property(window, name);
        return () => read(window);
    };
    return {
        __proto__: null,
        uncurried,
        fetch: fetch.bind(window),
        beacon: navigator.sendBeacon.bind(navigator),
        later: setTimeout.bind(window),
        often: setInterval.bind(window),
        stop: clearInterval.bind(window),
        frame: requestAnimationFrame.bind(window),
        now: performance.now.bind(performance),
        stringify: JSON.stringify,
        number: Number,
        least: Math.min,
        most: Math.max,
        match: method(RegExp, "exec"),
        trim: method(String, "trim"),
        hex: (number) => numberAsText(number, 16),
        codeAt: method(String, "charCodeAt"),
        slice: method(String, "slice"),
        whenDone: method(Promise, "then"),
        on: method(EventTarget, "addEventListener"),
        define: Object.defineProperty,
        inputType: getter(InputEvent, "inputType"),
        isEvent: getter(Event, "type"),
        pathOf: method(Event, "composedPath"),
        parent: getter(Node, "parentNode"),
        slot: getter(Element, "assignedSlot"),
        host: getter(ShadowRoot, "host"),
        kind: getter(Node, "nodeType"),
        isConnected: getter(Node, "isConnected"),
        contains: method(Node, "contains"),
        append: method(Element, "append"),
        remove: method(Element, "remove"),
        closest: method(Element, "closest"),
        attribute: method(Element, "getAttribute"),
        setAttribute: method(Element, "setAttribute"),
        tag: localName,
        lang: getter(HTMLElement, "lang"),
        innerText: getter(HTMLElement, "innerText"),
        // Return the form that a field or a button belongs to; null for any other element.
        form: (element) => forms[localName(element)] ? forms[localName(element)](element) : null,
        textOf: getter(CharacterData, "data"),
        control: getter(HTMLLabelElement, "control"),
        create: method(Document, "createElement"),
        title: getter(Document, "title"),
        body: getter(Document, "body"),
        root: getter(Document, "documentElement"),
        readyState: getter(Document, "readyState"),
        all: method(Document, "querySelectorAll"),
        at: method(Document, "elementsFromPoint"),
        textsIn: method(Document, "createTreeWalker"),
        nextText: method(TreeWalker, "nextNode"),
        range: method(Document, "createRange"),
        select: method(Range, "selectNodeContents"),
        boxOfRange: method(Range, "getBoundingClientRect"),
        box: method(Element, "getBoundingClientRect"),
        left: getter(DOMRectReadOnly, "left"),
        top: getter(DOMRectReadOnly, "top"),
        right: getter(DOMRectReadOnly, "right"),
        bottom: getter(DOMRectReadOnly, "bottom"),
        breadth: getter(Element, "clientWidth"),
        depth: getter(Element, "clientHeight"),
        width: getter(Element, "scrollWidth"),
        height: getter(Element, "scrollHeight"),
        viewWidth: ofWindow("innerWidth"),
        viewHeight: ofWindow("innerHeight"),
        scrollX: ofWindow("scrollX"),
        scrollY: ofWindow("scrollY"),
        styleOf: getter(HTMLElement, "style"),
        setStyle: method(CSSStyleDeclaration, "setProperty"),
        style: getComputedStyle.bind(window),
        styled: method(CSSStyleDeclaration, "getPropertyValue"),
        isRendered: method(Element, "checkVisibility"),
        Mutations: MutationObserver,
        follow: method(MutationObserver, "observe"),
        Intersections: window.IntersectionObserver,
        observe: method(IntersectionObserver, "observe"),
        unobserve: method(IntersectionObserver, "disconnect"),
        isIntersecting: getter(IntersectionObserverEntry, "isIntersecting"),
        isVisible: "isVisible" in IntersectionObserverEntry.prototype ? getter(IntersectionObserverEntry, "isVisible") : null,
    };
}
