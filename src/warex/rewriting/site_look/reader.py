"""Reads a site's look from one of its pages and the style sheets that it links.

What a hostile page says becomes a colour, a font's name, an address on its own origin or text.
"""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from turbohtml import Document, Element, SelectorSyntaxError, parse

from warex.exchange import SiteLook
from warex.rewriting.site_look.colours import colour_in, contrast, is_chromatic, text_on
from warex.rewriting.site_look.style_sheet import (
    StyleRule,
    background_of,
    declarations,
    rules_of,
)
from warex.rewriting.site_look.text_language import language_of
from warex.text.lazy_pattern import lazy_re

_BARS: Final = (
    "body > header, [role=banner], header, nav, #header, .navbar, .header, #top, .topbar,"
    " table[bgcolor] tr:first-child td[bgcolor], tr[bgcolor]"
)
_BUTTONS: Final = (
    ".btn-primary, .button-primary, .primary",
    "main button[type=submit], main input[type=submit]",
    "button, input[type=submit], .btn, .button, a[class*=button i]",
)
"""Selectors of buttons, the most telling ones first."""
_LOGOS: Final = (
    "img[class*=logo i], img[id*=logo i], img[src*=logo i], [class*=logo i] img, [id*=logo i] img,"
    " [class*=brand i] img, header a[href='/'] img, img[alt*=logo i]"
)
_DRAWN_LOGOS: Final = (
    "svg[class*=logo i], [class*=logo i] svg, [id*=logo i] svg, [class*=brand i] svg,"
    " header a[href='/'] svg"
)
_NAMES: Final = (
    "[class*=logo i], [id*=logo i], [class*=brand i], [class*=site-title i], header a[href='/'],"
    " [class*=masthead i]"
)
_LANGUAGE: Final = lazy_re(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_FAMILY: Final = lazy_re(r"-?[A-Za-z_][\w-]*(?: [A-Za-z_][\w-]*){0,5}", re.ASCII)
_SIZE: Final = lazy_re(r"^.*\d(?:px|r?em|%|pt|vw)?(?:/[\w.%]+)? ")
_LENGTH: Final = lazy_re(r"\d{1,3}(?:\.\d{1,3})?(?:px|r?em)")
_VARIABLE: Final = lazy_re(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*(?:\([^()]*\)[^()]*)*))?\)")
_ACCENT: Final = lazy_re(r"--(?:[a-z]+-){0,3}(?:accent|primary|brand)(?:-colou?r|-\d00)?")
_TITLE_PARTS: Final = lazy_re(r"\s+[-|\u2013\u2014\u00b7\u2022:]\s+|\s*[|\u00bb\u2014]\s*")
_NAME: Final = lazy_re(r"[.#]?-?[\w-]+")
_IMAGE_DATA: Final = lazy_re(r"data:image/(?:png|gif|jpeg|webp|svg\+xml);base64,[\w+/=]+")
_MAX_LOGO: Final = 16 * 1024
"""Characters of a logo that is drawn in the page, or is a ``data:`` URL."""
_URL_CHARACTERS: Final = "%:/?#[]@!$&()*+,;=~"
"""Characters that stay as they are in the address of a logo; others are percent-encoded."""
_MAX_NAME: Final = 40
_MAX_TEXT: Final = 4000
"""Characters by which a page's language is known."""
_MAX_ADDRESS: Final = 500
_MAX_FAMILIES: Final = 8
_GENERIC: Final = ("serif", "sans-serif", "monospace", "cursive", "system-ui", "ui-sans-serif")
_MAX_STEPS: Final = 20
"""Variables that are put in place of one value."""
_MAX_BUTTONS: Final = 12
_READABLE: Final = 2.5
"""The least contrast of text."""
_DISTINCT: Final = 1.6
"""The least contrast of an area."""


def read_look(page: bytes, address: str, sheets: Mapping[str, str]) -> SiteLook:
    """Return the look of a page at an address; ``sheets`` are style sheets by address."""
    document = parse(page)
    styles = _Styles(document, _sheets(document, address, sheets))
    root, body, bar = (_first(document, it) for it in ("html", "body", _BARS))
    link = _first(document, "main a[href], p a[href], a[href]")
    ground = _colour(styles, (body, root), "background-color", "bgcolor") or "#ffffff"
    ink = _colour(styles, (body, root), "color", "text")
    ink = ink if ink and contrast(ink, ground) > _READABLE else text_on(ground)
    bar_ground = _colour(styles, (bar,), "background-color", "bgcolor")
    theme = colour_in(_meta(document, "theme-color"))
    button = _main_button(document, styles, ground)
    accent = (
        styles.named_accent()
        or _colour(styles, (button,), "background-color")
        or (theme if theme and contrast(theme, ground) > _DISTINCT else "")
        or _colour(styles, (link,), "color")
        or (bar_ground if bar_ground and contrast(bar_ground, ground) > _DISTINCT else "")
        or styles.common_accent(ground)
    )
    on_bar = _colour(styles, (bar,), "color")
    is_of_button = accent == _colour(styles, (button,), "background-color")
    on_accent = _colour(styles, (button,), "color") if is_of_button else ""
    return SiteLook(
        name=_name(document),
        language=_language(document, _matched(_LANGUAGE, _attr(root, "lang"))),
        logo=_logo(document, address, on_bar or ink),
        ground=ground,
        ink=ink,
        accent=accent,
        on_accent=_read_on(on_accent, accent),
        bar=bar_ground,
        on_bar=_read_on(on_bar, bar_ground or ground),
        font=_families(styles.value((body, root), "font-family") or styles.value((body,), "font")),
        corner=_matched(_LENGTH, styles.value((button,), "border-radius")),
    )


def _main_button(document: Document, styles: "_Styles", ground: str) -> Element | None:
    """Return the first button that stands out, or else the first with a colour."""
    plain = None
    for selector in _BUTTONS:
        for button in document.select(selector)[:_MAX_BUTTONS]:
            colour = _colour(styles, (button,), "background-color")
            if colour and contrast(colour, ground) > _DISTINCT:
                return button
            plain = plain or button
    return plain if plain is None or _colour(styles, (plain,), "background-color") else None


class _Styles:
    """The declared values of a few elements of a page, by the cascade."""

    def __init__(self, document: Document, sheets: Iterable[str]) -> None:
        self._rules = [rule for sheet in sheets for rule in rules_of(sheet)]
        self._declared: dict[int, tuple[Element, dict[str, str]]] = {}
        """By the element's ``id``, which is its own as long as the element is kept."""
        roots = [it for it in (_first(document, "html"), _first(document, "body")) if it]
        self._variables: dict[str, str] = {}
        for root in roots:
            values = self._of(root)
            self._variables |= {name: it for name, it in values.items() if name.startswith("--")}

    def value(self, elements: Sequence[Element | None], name: str) -> str:
        """Return the first element's value that there is, with variables put in place."""
        for element in elements:
            if element is not None and (value := self._of(element).get(name)):
                return self._resolved(value)
        return ""

    def named_accent(self) -> str:
        """Return the colour that the site's own variables call its accent; empty for none."""
        named = (it for it in self._variables if _ACCENT.fullmatch(it))
        colours = (colour_in(self._resolved(self._variables[it])) for it in named)
        return next(filter(None, colours), "")

    def common_accent(self, ground: str) -> str:
        """Return the colour that most rules put behind something, if it is not grey.

        It is all that is known of a page that scripts draw.
        """
        colours = (colour_in(self._resolved(background_of(rule.values))) for rule in self._rules)
        distinct = [it for it in colours if it and is_chromatic(it)]
        counted = Counter(it for it in distinct if contrast(it, ground) > _DISTINCT)
        return counted.most_common(1)[0][0] if counted else ""

    def _of(self, element: Element) -> dict[str, str]:
        known = self._declared.get(id(element))
        if known is None:
            known = self._declared[id(element)] = element, self._cascaded(element)
        return known[1]

    def _cascaded(self, element: Element) -> dict[str, str]:
        names = _names(element)
        won: dict[str, tuple[tuple[bool, int], str]] = {}
        for rule in self._rules:
            if not _may_match(rule, names) or not _matches(element, rule.selector):
                continue
            for name, value in rule.values.items():
                weight = "!important" in value, _specificity(rule.selector)
                if name not in won or weight >= won[name][0]:
                    won[name] = weight, value
        values = {name: value for name, (_, value) in won.items()}
        values |= declarations(_attr(element, "style"))
        if background := background_of(values):
            values["background-color"] = background
        return values

    def _resolved(self, value: str) -> str:
        for _ in range(_MAX_STEPS):
            match = _VARIABLE.search(value[:1000])
            if match is None:
                break
            put = self._variables.get(match[1]) or match[2] or ""
            value = f"{value[: match.start()]}{put}{value[match.end() :]}"
        return value


def _sheets(document: Document, address: str, sheets: Mapping[str, str]) -> Iterator[str]:
    for element in document.select("style, link[rel~=stylesheet i][href]"):
        if element.tag == "style":
            yield element.text
        elif (at := _joined(address, _attr(element, "href"))) in sheets:
            yield sheets[at]


def _may_match(rule: StyleRule, names: frozenset[str]) -> bool:
    last = re.split(r"[\s>+~]+", rule.selector)[-1]
    required = _NAME.findall(last.partition("[")[0].partition(":")[0])
    return all(it in names for it in required) if required else True


def _names(element: Element) -> frozenset[str]:
    classes = _attr(element, "class").split()
    names = [element.tag, *(f".{it}" for it in classes), f"#{_attr(element, 'id')}"]
    return frozenset(names)


def _matches(element: Element, selector: str) -> bool:
    try:
        return bool(element.matches(selector))
    except (SelectorSyntaxError, ValueError):
        return False


def _specificity(selector: str) -> int:
    names = _NAME.findall(selector)
    ids = sum(it.startswith("#") for it in names)
    classes: int = (
        sum(it.startswith(".") for it in names) + selector.count("[") + selector.count(":")
    )
    return int(10_000 * ids + 100 * classes + len(names))


def _colour(
    styles: _Styles, elements: Sequence[Element | None], name: str, attribute: str = ""
) -> str:
    """Return a colour by the style sheets, or else by an old attribute."""
    colour = colour_in(styles.value(elements, name))
    if colour or not attribute:
        return colour
    return next(filter(None, (colour_in(_attr(it, attribute)) for it in elements)), "")


def _read_on(colour: str, ground: str) -> str:
    """Return a colour that can be read on a ground: the given one, or else black or white."""
    if not ground:
        return ""
    return colour if colour and contrast(colour, ground) > _READABLE else text_on(ground)


def _families(value: str) -> str:
    """Return the families of a list, without quotes, which a style sheet's value allows."""
    names = [part.strip(" \t\n'\"") for part in value.split("!")[0].split(",")]
    # The first of the shorthand ``font`` has a size before it.
    names = [
        re.sub(r"^.*\d(?:px|r?em|%|pt|vw)?(?:/[\w.%]+)? ", "", it).strip("'\"") for it in names
    ]
    families = [it for it in names if _FAMILY.fullmatch(it)][:_MAX_FAMILIES]
    return ", ".join(
        families if not families or families[-1] in _GENERIC else [*families, "sans-serif"]
    )


def _logo(document: Document, address: str, ink: str) -> str:
    for image in document.select(_LOGOS)[:5]:
        source = _attr(image, "src")
        if len(source) <= _MAX_LOGO and _IMAGE_DATA.fullmatch(source):
            return source
        at = _joined(address, source)
        if at and _origin(at) == _origin(address):
            return quote(at.partition("#")[0], safe=_URL_CHARACTERS)
    for drawn in document.select(_DRAWN_LOGOS)[:3]:
        text = drawn.html
        if len(text) <= _MAX_LOGO and "<use" not in text:
            # As an image, it runs no script and asks for nothing.
            text = text.replace("currentColor", ink).replace("currentcolor", ink)
            if "xmlns=" not in text:
                text = text.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
            return f"data:image/svg+xml;base64,{base64.b64encode(text.encode()).decode()}"
    return ""


def _name(document: Document) -> str:
    candidates = [_meta(document, "og:site_name"), _meta(document, "application-name")]
    logo = _first(document, _LOGOS)
    candidates += [re.sub(r"(?i)\blogo\b", "", _attr(logo, "alt"))]
    candidates += [next(iter(it.stripped_strings), "") for it in document.select(_NAMES)[:3]]
    title = _first(document, "title")
    if title is not None:
        candidates.append(_TITLE_PARTS.split(title.text[:300].strip())[-1])
    plain = (" ".join(it[:300].split()) for it in candidates)
    return next((it for it in plain if it and len(it) <= _MAX_NAME and it.isprintable()), "")


def _language(document: Document, named: str) -> str:
    """Return the language that a page names, unless its text is plainly in another.

    Many pages keep the English name of a template.
    """
    if named and named.lower().partition("-")[0] != "en":
        return named
    title = _first(document, "title")
    text = f"{title.text[:_MAX_TEXT] if title else ''} {document.to_text()[:_MAX_TEXT]}"
    return language_of(text[: 2 * _MAX_TEXT]) or named


def _meta(document: Document, name: str) -> str:
    element = _first(document, f"meta[property='{name}'], meta[name='{name}']")
    return _attr(element, "content")


def _first(document: Document, selector: str) -> Element | None:
    """Return the element that the first of the selectors selects, which has any."""
    for part in re.split(r",(?![^(]*\))\s*", selector):
        element = document.select_one(part)
        if element is not None:
            return element
    return None


def _attr(element: Element | None, name: str) -> str:
    value = element.attr(name) if element is not None else None
    return value if isinstance(value, str) else " ".join(value or ())


def _matched(pattern: re.Pattern[str], value: str) -> str:
    match = pattern.fullmatch(value.strip())
    return match[0] if match else ""


def _joined(base: str, address: str) -> str:
    """Return an address of the web, in printable ASCII; empty for another."""
    try:
        joined = urljoin(base, address.strip()[:_MAX_ADDRESS])
    except ValueError:
        return ""
    is_plain = joined.startswith(("http://", "https://")) and re.fullmatch(r"[!-~]+", joined)
    return joined if is_plain else ""


def _origin(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", ""
    return parts.scheme, parts.netloc
