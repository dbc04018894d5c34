"""Reads a request: the goal, the elements of the page, the earlier actions."""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import Any

_SECTION = re.compile(r"^# (.+)$", re.MULTILINE)
_PAST = re.compile(r"^## Step \d+$", re.MULTILINE)
_LITERAL = r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
_LINE = re.compile(rf"^(\s*)(?:\[(\w+)\] )?([\w-]+) {_LITERAL}(?: \[(\w+)\])?(.*)$")
_TURN = re.compile(r"^Step (\d+)[:,]")
_CALL_LINE = re.compile(r"^[\s*`-]*\w+\(.*\)")
_DATA = ("json", "data", "response")
"""Keys of a tool's result in some APIs, which may be any JSON."""
_TEXT_KEYS = (
    "text",
    "content",
    "parts",
    "output",
    "toolResult",
    "functionResponse",
    "document",
    *_DATA,
)
"""Keys of texts and of tools' results in the APIs of models."""
IN_THE_WAY = "is in the way"
"""A persona's words for something that is not part of its task."""
_TITLE = re.compile(r"^Title: (.*)$", re.MULTILINE)
_LONGEST_HEADING = 60
_DIALOG = re.compile(r"^\s*(?:\[\w+\] )?(?:alert)?dialog ")
_CLOSE = re.compile(r"\bclose\b", re.IGNORECASE)
_REFRESH = re.compile(r"\b(refresh|reload)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Element:
    """One line of the accessibility tree; `text` is its name, or the text inside it."""

    id: str
    role: str
    text: str
    disabled: bool = False
    id_last: bool = False
    """Whether the id is behind the name, as in a compact tree."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One of the model's own earlier replies: its step, from 0, and its result."""

    step: int
    reloaded: bool
    failed: bool
    aside: bool = False
    """Whether it dealt with something in the way, not with the step itself."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The contents of one request."""

    goal: str
    elements: tuple[Element, ...]
    turns: tuple[Turn, ...]
    asked_to_refresh: bool
    """By the system prompt; the same for the next."""
    asked_to_close: bool = False
    dialog: tuple[Element, ...] = ()
    """The elements in the page's last dialog, if any."""
    headed: str = ""
    """A compact page's first heading, or its title; empty for a whole page."""
    failed: bool = False
    """Whether the last action failed, of any agent."""


def read(messages: Sequence[dict[str, Any]]) -> Situation:
    """Read the messages of one request; missing parts are empty."""
    system = "\n".join(text(m) for m in messages if m.get("role") in ("system", "developer"))
    sections = _sections("\n".join(text(m) for m in messages if m.get("role", "user") == "user"))
    page = sections.get("Current page", "")
    return Situation(
        goal=sections.get("Goal", ""),
        elements=elements(page),
        turns=_turns(sections.get("History of past actions", "")),
        asked_to_refresh=_instructs(system, _REFRESH),
        asked_to_close=_instructs(system, _CLOSE),
        dialog=elements(_dialog(page)),
        # Only a prompt for a small model does not ask for the next action.
        headed="" if "Next action" in sections else _headed(page),
        failed="Error message from last action" in sections,
    )


def _headed(page: str) -> str:
    headings = (element.text for element in elements(page) if element.role == "heading")
    title = _TITLE.search(page)
    return next(filter(None, headings), title[1] if title else "")[:_LONGEST_HEADING]


def text(message: Mapping[str, Any]) -> str:
    """Return the text of a message and of the tools' results in it."""
    return "\n".join(_texts({key: message[key] for key in _TEXT_KEYS if key in message}))


def _texts(value: Any, *, data: bool = False) -> Iterator[str]:
    """Yield the texts in a value; all of ``data``, a tool's result, as JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and not data:
        for each in value:
            yield from _texts(each) if isinstance(each, dict | list) else ()
    elif isinstance(value, dict) and not data:
        for key in _TEXT_KEYS:
            yield from _texts(value.get(key), data=key in _DATA)
    elif data and value is not None:
        yield json.dumps(value, ensure_ascii=False)


def _sections(prompt: str) -> dict[str, str]:
    """Split a prompt at its ``# Title`` lines; the first of a title counts."""
    sections: dict[str, str] = {}
    titles = list(_SECTION.finditer(prompt))
    for title, following in zip_longest(titles, titles[1:]):
        end = following.start() if following else len(prompt)
        sections.setdefault(title[1].strip(), prompt[title.end() : end].strip())
    return sections


def elements(page: str) -> tuple[Element, ...]:
    """Read an accessibility tree.

    An element without a name of its own (a status line, a paragraph) is known by the text in it.
    """
    lines = [match for line in page.splitlines() if (match := _LINE.match(line))]
    return tuple(
        Element(
            id=line[2] or line[5] or "",
            role=line[3],
            text=_unquoted(line[4]) or _text_inside(lines, index),
            disabled=bool(re.search(r"(?:^|[ ,])disabled(?:,|$)", line[6])),
            id_last=line[5] is not None,
        )
        for index, line in enumerate(lines)
    )


def _dialog(page: str) -> str:
    """Return the lines inside the last dialog of a tree."""
    lines = page.splitlines()
    dialogs = [(it, line) for it, line in enumerate(lines) if _DIALOG.match(line)]
    if not dialogs:
        return ""
    at, head = dialogs[-1]
    inside = takewhile(lambda line: _depth(line) > _depth(head), lines[at + 1 :])
    return "\n".join(inside)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _text_inside(lines: list[re.Match[str]], index: int) -> str:
    depth = len(lines[index][1])
    inside = takewhile(lambda line: len(line[1]) > depth, lines[index + 1 :])
    return " ".join(filter(None, (_unquoted(line[4]) for line in inside)))


def _unquoted(literal: str) -> str:
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError):
        return literal[1:-1]


def _turns(history: str) -> tuple[Turn, ...]:
    """Return the model's own replies; others are ignored."""
    turns = []
    for past in _PAST.split(history)[1:]:
        lines = past.strip().splitlines()
        if lines and (mine := _TURN.match(lines[0])):
            failed = lines[-1].startswith("Error: ")
            aside = IN_THE_WAY in lines[0]
            turns.append(Turn(int(mine[1]) - 1, "reload()" in lines, failed, aside))
    return tuple(turns)


def _instructs(system: str, what: re.Pattern[str]) -> bool:
    """Whether a prompt has these words, except in a list of actions such as ``reload()``."""
    lines = system.splitlines()
    return any(what.search(line) for line in lines if not _CALL_LINE.match(line))
