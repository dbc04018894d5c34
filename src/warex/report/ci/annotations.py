"""GitHub's workflow commands, which mark a build with errors, warnings and notices."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from warex.report.ci.cases import Case
from warex.text.escaping import escape_controls

type Level = Literal["error", "warning", "notice"]

MOST_PER_LEVEL: Final = 10
"""GitHub shows no more of a step."""
_LARGEST: Final = 4_000
"""Characters of a message."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A sentence that a build is marked with."""

    level: Level
    title: str
    message: str

    def __str__(self) -> str:
        """The workflow command, one line."""
        message = self.message if len(self.message) <= _LARGEST else f"{self.message[:_LARGEST]}…"
        return f"::{self.level} title={_property(self.title)}::{_data(message)}"


def case_annotations(cases: Iterable[Case]) -> Iterator[Annotation]:
    """Yield an annotation for each case that did not pass."""
    for case in cases:
        match case.end:
            case "failed" | "error":
                yield Annotation("error", f"WAREX: {case.name}", case.message)
            case "skipped":
                yield Annotation("warning", f"WAREX: {case.name} is undecided", case.message)
            case "passed":
                if case.message:
                    yield Annotation("notice", f"WAREX: {case.name} is undecided", case.message)


def commands(annotations: Iterable[Annotation]) -> tuple[str, ...]:
    """Return the lines to print, as many of each level as are shown; the last tells of more."""
    by_level: dict[Level, list[Annotation]] = {}
    for annotation in annotations:
        by_level.setdefault(annotation.level, []).append(annotation)
    lines: list[str] = []
    for level, each in by_level.items():
        shown = each
        if len(each) > MOST_PER_LEVEL:
            shown = each[: MOST_PER_LEVEL - 1]
            more = f"{len(each) - len(shown):,} more: see the output of this step."
            shown.append(Annotation(level, "WAREX", more))
        lines += map(str, shown)
    return tuple(lines)


def _data(text: str) -> str:
    escaped = escape_controls(text.replace("\r\n", "\n"))
    return escaped.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
