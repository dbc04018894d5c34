"""Shortens an accessibility tree for a small model."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from warex.agents.reference.axtree import Line

MOST_LINES: Final = 28
"""Of a tree; of a longer one those are kept that matter for the goal."""
MOST_MORE: Final = 24
"""Lines kept beyond those: the links of the site's navigation, and what is beside a wanted line."""
FEW_TEXTS: Final = 8
"""Plain texts: all of an error page, the first of any other."""
SHORT_TEXT: Final = 80
"""Characters of a plain text."""
FEW_WORDS: Final = 3
"""A label of more words, or with a number, often names one of many: its kind counts double."""
RARE: Final = 0.1
"""The least weight of a line that matters for the goal: each of its words by its frequency."""
WANTED: Final = 0.5
"""The least weight of a line whose neighbours are kept: its checkbox, its button."""

_USABLE: Final = frozenset(
    {
        *("button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox"),
        *("menuitemradio", "option", "radio", "searchbox", "slider", "spinbutton", "switch"),
        *("tab", "textbox", "treeitem"),
    }
)
_TELLING: Final = frozenset(
    {"alert", "alertdialog", "article", "cell", "dialog", "gridcell", "heading", "status"}
)
_ALWAYS: Final = frozenset(
    {
        *("alert", "alertdialog", "dialog", "heading", "status"),
        *("combobox", "radio", "searchbox", "spinbutton", "textbox"),
    }
)
_WORD: Final = re.compile(r"[a-z]{3,}|\d+")
_LITTLE: Final = frozenset({"and", "are", "for", "from", "its", "that", "the", "what", "with"})


def compact(lines: Iterable[Line], goal: str) -> list[Line]:
    """Return the usable elements, headings, messages and a few texts that matter for a goal.

    Only usable elements keep their node, and so get an id; repeated lines are left out, and texts
    cut. Of a long page the lines with words of the goal and the rarest ones are kept, and short
    links: a task may begin at any of a site's parts, whatever the words of its goal.
    """
    short = list(_short(lines))
    if len(short) <= MOST_LINES:
        return short
    words = [_words(line.text) for line in short]
    seen = Counter(word for some in words for word in some)
    wanted = _words(goal)
    kinds = [_kind(line, some) for line, some in zip(short, words, strict=True)]
    alike, first = Counter(kinds), {line.text: at for at, line in reversed([*enumerate(short)])}

    weights = [sum(1 / seen[word] for word in some & wanted) for some in words]

    def rank(at: int) -> tuple[int, float, int]:
        role, is_short, _ = kinds[at]
        if role in _ALWAYS:
            return 0, 0, at
        if weights[at] >= RARE:
            return 1, -weights[at], at
        last = role == "StaticText" or first[short[at].text] != at
        return 3 if last else 2, alike[kinds[at]] * (1 if is_short else 2), at

    def is_beside(at: int, other: int) -> bool:
        roles = {kinds[at][0], kinds[other][0]}
        return weights[other] >= WANTED and len(roles) == 2 and len(words[at] & words[other]) > 1

    order = sorted(range(len(short)), key=rank)
    chosen, cut = order[:MOST_LINES], sorted(order[MOST_LINES:])
    ends = range(len(short))
    beside = [
        at
        for at in cut
        if kinds[at][0] in _USABLE
        and any(is_beside(at, other) for other in (at - 1, at + 1) if other in ends)
    ]
    links = [at for at in cut if kinds[at][:2] == ("link", True) and first[short[at].text] == at]
    more = list(dict.fromkeys([*beside, *links]))[:MOST_MORE]
    return [short[at] for at in sorted([*chosen, *more])]


def _kind(line: Line, words: frozenset[str]) -> tuple[str, bool, int]:
    """Return what lines share that are one of many things: role, short label or not, depth."""
    is_short = len(words) <= FEW_WORDS and not any(word.isdigit() for word in words)
    return _role(line), is_short, line.depth


def _short(lines: Iterable[Line]) -> Iterator[Line]:
    above: list[int] = []
    before, texts = "", 0
    for line in lines:
        while above and above[-1] >= line.depth:
            above.pop()
        role = _role(line)
        if role not in _USABLE and role not in _TELLING and role != "StaticText":
            continue
        texts += role == "StaticText"
        if line.text == before or (role == "StaticText" and texts > FEW_TEXTS):
            continue
        before = line.text
        # An option is chosen by its label.
        usable = role in _USABLE and role != "option"
        text, node = line.text, line.backend_id if usable else None
        if role not in _USABLE and len(text) > SHORT_TEXT:
            text = f"{text[:SHORT_TEXT]}…{text[-1]}"
        yield Line(len(above), text, node, line.state)
        above.append(line.depth)


def _role(line: Line) -> str:
    return line.text.partition(" ")[0]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in _WORD.findall(text.lower())) - _LITTLE
