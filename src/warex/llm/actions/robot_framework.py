"""Reads the keywords that a task of Robot Framework runs, without running it.

Keywords that the text defines are read where they are called.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from warex.llm.actions.base import Code, CodeCall, Context, inner_context
from warex.text.lazy_pattern import lazy_re

MOST_CODE: Final = 12_000
"""Characters of a text that are read."""
_MOST_CALLS = 200
_MOST_LINES = 2000
"""Lines that are visited; those of a keyword count each time."""
_DEEPEST = 4
_CELLS = lazy_re(r" {2,}|\t+|[ ]\|[ ]")
_HEADER = lazy_re(r"\*+\s*([A-Za-z ]{1,30}?)\s*\**")
_TARGET = lazy_re(r"[$@&]\{[^{}]*\}\s*=?")
_WORDS = lazy_re(r"[ _-]+")
_OF_TEST = lazy_re(r"set_\w*(?:variable|selenium|library|level)\w*")
"""Keywords that only change the test itself."""
_CONTEXTS: Mapping[str, Context] = {
    **dict.fromkeys(("IF", "ELSE IF", "ELSE"), "branch"),
    **dict.fromkeys(("FOR", "WHILE"), "loop"),
    "EXCEPT": "handler",
    **dict.fromkeys(("TRY", "FINALLY", "GROUP"), ""),
}
"""What begins a block or, after the first part of it, its next part."""
_NEXT_PARTS = frozenset(("ELSE IF", "ELSE", "EXCEPT", "FINALLY"))
_LEADING: Mapping[str, tuple[int, Context]] = {
    **dict.fromkeys(("run_keyword_if", "run_keyword_unless"), (1, "branch")),
    "run_keyword_and_expect_error": (1, ""),
    "wait_until_keyword_succeeds": (2, "loop"),
    "repeat_keyword": (1, "loop"),
}
"""How many arguments stand before the keyword that these run."""


def robot_calls(source: str) -> tuple[CodeCall | Code, ...] | None:
    """Return the keywords that tasks and test cases run, in order; None if there are none."""
    if len(source) > MOST_CODE:
        return None
    reader = _Reader(source)
    reader.read(reader.body, "", 0)
    return tuple(reader.calls) or None


class _Reader:
    def __init__(self, source: str) -> None:
        self.calls: list[CodeCall | Code] = []
        self.body: list[list[str]] = []
        self._lines = 0
        self._keywords: dict[str, list[list[str]]] = {}
        section, lines = "tasks", self.body
        for line in source.splitlines():
            if header := _HEADER.fullmatch(line.strip()) if line.startswith("*") else None:
                section = header[1].lower()
                lines = self.body if section.startswith(("task", "test")) else []
            elif line.strip() and section != "settings":
                cells = [cell.strip() for cell in _CELLS.split(line.strip()) if cell.strip()]
                if not line[0].isspace() and section.startswith("keyword"):
                    lines = self._keywords.setdefault(_named(cells[0]), [])
                elif cells[:1] == ["..."] and lines:
                    lines[-1] += cells[1:]
                elif line[0].isspace() or len(cells) > 1:
                    lines.append(cells)

    def read(self, lines: Sequence[list[str]], context: Context, depth: int) -> None:
        """Read the lines of a task or of a keyword."""
        blocks = [context]
        for cells in lines:
            self._lines += 1
            if self._lines > _MOST_LINES or len(self.calls) >= _MOST_CALLS:
                return
            first = cells[0]
            if first == "END":
                del blocks[max(1, len(blocks) - 1) :]
            elif first in _CONTEXTS:
                if first in _NEXT_PARTS:
                    del blocks[max(1, len(blocks) - 1) :]
                outer = blocks[-1]
                blocks.append(inner_context(outer, _CONTEXTS[first]))
            else:
                self._keyword(cells, blocks[-1], depth)

    def _keyword(self, cells: Sequence[str], context: Context, depth: int) -> None:
        words = list(_without_targets(cells))
        if not words or words[0].startswith("#") or depth > _DEEPEST:
            return
        if words[0].startswith("["):
            if words[0].lower() in ("[setup]", "[teardown]"):
                self._keyword(words[1:], context, depth + 1)
            return
        name, arguments = _named(words[0]), words[1:]
        leading, inner = _LEADING.get(name, (0, ""))
        if leading or name.startswith("run_keyword"):
            self._keyword(arguments[leading:], inner_context(context, inner), depth + 1)
        elif name in self._keywords:
            self.read(self._keywords[name], context, depth + 1)
        elif "javascript" in name and arguments:
            self.calls.append(Code("javascript", arguments[-1], context))
        elif not _OF_TEST.fullmatch(name):
            values = tuple(each for each in arguments if not each.startswith("#"))
            self.calls.append(CodeCall(name, "", values, context=context))


def _without_targets(cells: Sequence[str]) -> Iterator[str]:
    """Yield a line's cells without the variables that get its result."""
    is_target = True
    for cell in cells:
        is_target = is_target and _TARGET.fullmatch(cell) is not None
        if not is_target:
            yield cell


def _named(keyword: str) -> str:
    """Return a keyword's name as an action's: ``go_to`` of ``SeleniumLibrary.Go To``."""
    return _WORDS.sub("_", keyword.rpartition(".")[2].strip().lower())
