"""Finds what the elements are called that an action names, in the text of a page."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from turbohtml import Document, Element, parse

ELEMENT_ID: Final = re.compile(
    r"\d{1,6}|[a-z]{1,2}\d{1,6}|[A-Z]{3,6}|\d{1,3}[-_]\d{1,6}|(?:ref|el|element|node)_\d{1,6}"
)
_REFERENCE: Final = re.compile(
    r"@(\w+)|\[?(?:[\w-]*ref|uid|bid|mmid|index)=['\"]?([\w-]+)['\"]?\]?|\[([\w-]+)\]"
)
"""An element's id in a selector: ``@e12``, ``aria-ref=e12``, ``[bid="12"]``, ``[12]``."""
_PLACE: Final = re.compile(
    r"[(\[]?(?<![\w.])(?:x[=:] ?)?(\d{1,5}), ?(?:y[=:] ?)?(\d{1,5})"
    r"(?:, ?(\d{1,5}), ?(\d{1,5}))?(?![\w.])[)\]]?"
)
"""An element's place on a line of a page's text: a point, or the corners of a box."""
_NAME_BEFORE: Final = re.compile(r"(?:\"([^\"\n]+)\"|\b([A-Z][\w ]{0,30}?))( (?:at|@))? ?$")
"""A name before a place: ``button "Reload" at (88, 52)``."""
_NEAR: Final = 12
"""Pixels by which a click may be beside the place that the text gives."""
_MOST_NUMBERS: Final = 8
"""Of an action: a click has two or, for a box, four."""
_QUOTED: Final = (re.compile(r"'([^'\n]+)'"), re.compile(r"\"([^\"\n]+)\""))
"""One within the other, too: ``By.xpath("//button[text()='Retry']")``."""
_IN_WORDS: Final = re.compile(
    r"(?:(?:click|press|tap)(?: on)? )?the (?P<name>.{1,40}?) (?:button|link)\.?", re.IGNORECASE
)
"""An act in words, or its element: ``click the Retry button``."""
_BRACKETED: Final = re.compile(r"\[[^\]\n]*\]|<[^>\n]*>|/?>|\b\w+=\S*")
_ATTRIBUTES: Final = re.compile(r"(?:\s*\[\w+=[^\]\n]{1,40}\])+\s*$")
_NEXT: Final = re.compile(r"\[\d+\]|</")
_ROLES: Final = re.compile(r"^\W*(?:button|link):?\s+|\s+(?:button|link)\W*$", re.IGNORECASE)
_WORD: Final = re.compile(r"\w")
_TAG: Final = re.compile(r"<[a-z][\w-]*(?:\s[^<>]*)?>")
_NAMING: Final = ("aria-label", "title", "value", "alt")
"""Attributes that name an element."""
_SELECTS: Final = re.compile(r"[#.\[>]")
"""A selector has one of these; a name, or a role such as ``button``, does not."""
_ATTRIBUTE = (
    r"\[[\w-]{1,40}(?:[~^$*|]?=(?:\"[^\"\n]{0,80}\"|'[^'\n]{0,80}'|[\w-]{1,80}))?\]"  # [name="q"]
)
_COMPOUND = rf"(?:[\w.#*-]|{_ATTRIBUTE}){{1,80}}+"
_SIMPLE_CSS: Final = re.compile(rf"{_COMPOUND}(?:\s{{0,4}}[\s>]\s{{0,4}}{_COMPOUND}){{0,3}}+")
_SIMPLE_XPATH: Final = re.compile(r"(?://?[\w.*-]{1,40}(?:\[[^\[\]/:\n]{1,80}\]){0,3}){1,4}+")
"""Selectors of few steps, since a model chooses them: those of others may take very long."""
_LONGEST_PAGE: Final = 64_000
_LONGEST_VALUE: Final = 400
_MOST_VALUES: Final = 20
_MOST_PLACES: Final = 100
"""On a line."""
_BESIDE: Final = 200
"""Characters before and after an id or a place in which a name is looked for."""


def bare_id(reference: str) -> str:
    """Return the id of an element in a reference to it, as the page lists it."""
    match = _REFERENCE.fullmatch(reference)
    return next(filter(None, match.groups())) if match else reference


def element_names(values: Sequence[str], page: str) -> Iterator[str]:
    """Yield what the element that an action with these arguments is used on may be called.

    That is what the action itself says, and what stands in the text of the page beside the
    element's id or place, or in the element that a selector picks.
    """
    lines = page.splitlines()
    values = [value[:_LONGEST_VALUE] for value in values[:_MOST_VALUES]]
    for value in values:
        yield from _names_in(value)
    quoted = [it for value in values for it in _QUOTED[0].findall(value)]
    for reference in (*values, *quoted):
        bare = bare_id(reference).removeprefix("id=").removeprefix("#")
        named = re.escape(bare)
        if not ELEMENT_ID.fullmatch(bare) and re.search(rf'\bid[= ]"{named}"', page) is None:
            continue
        own = re.compile(
            rf"\[(?:\w+=)?{named}\]|\b\w*(?:id|ref)[= ]\"?{named}\"?(?=[\s>/)])"
            rf"|(?<![\w.]){named}(?= \"[^\"\n]+\" \()"
        )
        for line in lines:
            if match := own.search(line):
                before = _ATTRIBUTES.sub("", _before(match, line))
                after = _NEXT.split(_after(match, line))[0]
                is_listed = after.startswith(' "')  # 8 "Retry" (button), 9 "Help" (link)
                # A name stands before its id where a line has one element.
                yield from _names_in("" if is_listed or "[" in before else before)
                yield from _names_in(after.partition(" (")[0] if is_listed else after)
    yield from _names_at(values, lines)
    if _TAG.search(page):
        html = parse(page[:_LONGEST_PAGE])
        for selector in (*values, *quoted):
            yield from _names_by(selector, html)


def _names_at(values: Sequence[str], lines: Sequence[str]) -> Iterator[str]:
    """Yield the names of the elements at a pair of coordinates among an action's values."""
    numbers = [int(it) for value in values for it in re.findall(r"\d{1,5}", value)]
    for x, y in pairwise(numbers[:_MOST_NUMBERS]):
        for line in lines:
            places = [*islice(_PLACE.finditer(line), _MOST_PLACES)]
            for place in places:
                if _is_at(place, x, y):
                    yield from _names_beside(place, places, line)


def _names_beside(
    place: re.Match[str], places: Sequence[re.Match[str]], line: str
) -> Iterator[str]:
    """Yield the names that a place on a line may belong to: all of it, or before or after each."""
    before, after = _before(place, line), _after(place, line)
    if len(places) == 1:
        yield from _names_in(f"{before} {after}")
    name = _NAME_BEFORE.search(before)
    if name is not None and (name[3] or not _WORD.search(line, places[-1].end())):
        yield name[1] or name[2]
    elif len(places) > 1:
        yield from _names_in(_PLACE.split(after)[0])


def _before(match: re.Match[str], line: str) -> str:
    return line[max(0, match.start() - _BESIDE) : match.start()]


def _after(match: re.Match[str], line: str) -> str:
    return line[match.end() : match.end() + _BESIDE]


def _is_at(place: re.Match[str], x: int, y: int) -> bool:
    """Whether a point is near the point that a line gives, or in its box."""
    left, top, right, bottom = (int(it or 0) for it in place.groups())
    if place[3] is None:
        return abs(left - x) <= _NEAR and abs(top - y) <= _NEAR
    return left <= x <= right and top <= y <= bottom


def _names_by(selector: str, html: Document) -> Iterator[str]:
    """Yield the names of the one element that a CSS selector or an XPath picks."""
    bare = selector.removeprefix("css=").removeprefix("xpath=")
    is_path = _SIMPLE_XPATH.fullmatch(bare)
    if not is_path and not (_SELECTS.search(bare) and _SIMPLE_CSS.fullmatch(bare)):
        return
    try:
        picked = html.xpath(bare) if is_path else html.select(bare)
    except ValueError:
        return
    if isinstance(picked, list) and len(picked) == 1 and isinstance(picked[0], Element):
        attributes = map(picked[0].attrs.get, _NAMING)
        yield from (str(it).strip() for it in (picked[0].text, *attributes) if it)


def _names_in(text: str) -> Iterator[str]:
    for quotes in _QUOTED:
        yield from quotes.findall(text)
    if phrase := _IN_WORDS.fullmatch(text):
        yield phrase["name"]
    yield _ROLES.sub("", _BRACKETED.sub(" ", text.removeprefix("text="))).strip(" '\"-")
