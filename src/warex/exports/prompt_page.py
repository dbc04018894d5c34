"""Reads a prompt: its goal, the page's elements and texts, and the earlier answers.

It knows the trees of several harnesses: ``[7] link 'Cart'`` (BrowserGym, WebArena), ``link 'Cart'
[7]``, ``[7]<a>Cart`` (browser-use), ``[7]: <a> "Cart"`` (WebVoyager).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage

QUOTED: Final = r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""
"""Matches a name as trees quote it."""
_LINE: Final = re.compile(
    rf"^[ \t]*(?:\[(?P<before>\w+)\][ \t]+)?(?P<role>[A-Za-z][\w-]*)[ \t]+(?P<name>{QUOTED})"
    r"(?:[ \t]+\[(?P<after>\w+)\])?(?P<state>[^\n]*)$",
    re.MULTILINE,
)
_TAG: Final = re.compile(
    r"\*?\[(?P<id>\d+)\](?:<(?P<role>\w+)(?P<state>[^>\n]*?)>?(?P<name>[^\n<\[]*)"
    r'|:[ \t]*(?:<(?P<tag>\w+)>)?[ \t]*"(?P<quoted>[^"\n]*)")'
)
_SECTION: Final = re.compile(r"^(?:# ([^\n]+)|([A-Z][A-Z ]+):)[ \t]*", re.MULTILINE)
_URL: Final = re.compile(r"https?://[^\s'\"<>\]]+")
_GOALS: Final = ("goal", "objective", "task", "instruction", "user request")


@dataclass(frozen=True, slots=True)
class PageElement:
    """A line of the page's tree."""

    id: str
    """Empty if no action can name it."""
    role: str
    name: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class PromptPage:
    """What a prompt shows."""

    goal: str
    url: str
    elements: tuple[PageElement, ...]
    """In order; those without an id are texts and headings."""
    page: str
    """The text of the page alone."""
    history: str
    """The agent's earlier answers."""

    @property
    def usable(self) -> tuple[PageElement, ...]:
        """The elements that an action can name."""
        return tuple(element for element in self.elements if element.id)


def read_prompt(prompt: Sequence[ChatMessage]) -> PromptPage:
    """Read a prompt; what it does not have is empty."""
    shown = ["\n".join(message_texts([it])) for it in prompt if it.get("role") != "system"]
    roles = [it.get("role") for it in prompt if it.get("role") != "system"]
    last = next((at for at in reversed(range(len(shown))) if shown[at]), 0)
    text = shown[last] if shown else ""
    sections = list(_sections(text))
    goal = next((body for title, body in sections if title in _GOALS), "")
    history = [body for title, body in sections if "history" in title or "previous" in title]
    history += [it for at, it in enumerate(shown[:last]) if roles[at] == "assistant"]
    if not goal and len(shown) > 1:
        earlier = (dict(_sections(it)) for it in shown[:last])
        goal = next((it[title] for it in earlier for title in _GOALS if title in it), shown[0])
    page = "\n".join(body for title, body in sections if _is_of_page(title))
    page = page or text
    url = _URL.search(page)
    return PromptPage(goal, url[0] if url else "", tuple(_elements(page)), page, "\n".join(history))


def page_spans(text: str) -> list[tuple[int, int]]:
    """Return where a text shows a page: its sections but goal and history; all of it without any.

    A span is a first offset and the offset behind the last.
    """
    spans = [(start, end) for title, start, end in _spans(text) if _is_of_page(title)]
    return spans or [(0, len(text))]


def element_starts(text: str) -> list[int]:
    """Return the offsets of a text's elements."""
    return [start for start, _ in _numbered_elements(text)]


def _is_of_page(title: str) -> bool:
    return title not in _GOALS and not {"history", "previous"} & set(title.split())


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the titles of a prompt, in lower case, with what follows each."""
    for title, start, end in _spans(text):
        if (body := text[start:end].strip()) or title:
            yield title, body


def _spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each title of a prompt with the offsets of what follows it; first what precedes all."""
    titles = list(_SECTION.finditer(text))
    begins = [it.start() for it in titles] + [len(text)]
    yield "", 0, begins[0]
    for title, end in zip(titles, begins[1:], strict=True):
        yield (title[1] or title[2]).strip(" :").lower(), title.end(), end


def _elements(page: str) -> Iterator[PageElement]:
    yield from (element for _, element in _numbered_elements(page))


def _numbered_elements(page: str) -> list[tuple[int, PageElement]]:
    """Return a page's elements with their offsets, in order."""
    lines = [
        (
            match.start(),
            PageElement(
                id=match["before"] or match["after"] or "",
                role=match["role"],
                name=_unquoted(match["name"]),
                state=match["state"].strip(" ,"),
            ),
        )
        for match in _LINE.finditer(page)
    ]
    if not any(element.id for _, element in lines):
        lines += [
            (
                match.start(),
                PageElement(
                    id=match["id"],
                    role=match["role"] or match["tag"] or "text",
                    name=(match["quoted"] or match["name"] or "").strip(" />"),
                    state=(match["state"] or "").strip(),
                ),
            )
            for match in _TAG.finditer(page)
        ]
    return sorted(lines, key=lambda it: it[0])


def _unquoted(literal: str) -> str:
    return re.sub(r"\\(.)", r"\1", literal[1:-1])
