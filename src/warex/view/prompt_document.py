"""The prompt of a call to the model, as a difference to the prompt of the call before."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, Final, Literal

from warex.analysis.steps.model_steps import prompt_messages
from warex.errors import TraceError
from warex.traces.events import LlmCall
from warex.view.trace_index import TraceIndex

type Change = Literal["equal", "added", "removed"]
type _Line = tuple[str, str]
"""A line of a prompt with the role of its message."""

LONGEST_PART: Final = 20_000
"""Maximum characters of a part; the call as recorded has the rest."""
_MOST_COMPARED: Final = 4_000_000
"""Pairs of lines; where there are more, all in between counts as replaced."""


def prompt_document(index: TraceIndex, seq: int) -> dict[str, Any]:
    """Return the prompt of the call in a line of the trace. Raises TraceError if that has none."""
    calls = [(e.seq, e.event) for e in index.entries if isinstance(e.event, LlmCall)]
    place = next((place for place, (at, _) in enumerate(calls) if at == seq), None)
    if place is None:
        raise TraceError(f"Line {seq} of the trace is not a call to the model.")
    now = _lines(calls[place][1])
    before = _lines(calls[place - 1][1]) if place else []
    return {
        "characters": sum(len(text) + 1 for _, text in now),
        "parts": list(_parts(before, now)),
    }


def _lines(call: LlmCall) -> list[_Line]:
    return [
        (message.role, line) for message in prompt_messages(call.messages) for line in message.lines
    ]


def _parts(before: Sequence[_Line], now: Sequence[_Line]) -> Iterator[dict[str, Any]]:
    """Yield parts of one change and one role, in order."""
    for (change, role), lines in groupby(
        _changes(before, now), key=lambda line: (line[0], line[1][0])
    ):
        text = "\n".join(line[1] for _, line in lines)
        yield {
            "change": change,
            "role": role,
            "text": text[:LONGEST_PART],
            "left_out": max(0, len(text) - LONGEST_PART),
        }


def _changes(before: Sequence[_Line], now: Sequence[_Line]) -> Iterator[tuple[Change, _Line]]:
    start = _equal_from_start(before, now)
    end = _equal_from_start(before[start:][::-1], now[start:][::-1])
    yield from (("equal", line) for line in now[:start])
    old, new = before[start : len(before) - end], now[start : len(now) - end]
    if len(old) * len(new) > _MOST_COMPARED:
        blocks = [(len(old), len(new), 0)]
    else:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        blocks = [(block.a, block.b, block.size) for block in matcher.get_matching_blocks()]
    i = j = 0
    for a, b, size in blocks:
        yield from (("removed", line) for line in old[i:a])
        yield from (("added", line) for line in new[j:b])
        yield from (("equal", line) for line in new[b : b + size])
        i, j = a + size, b + size
    yield from (("equal", line) for line in now[len(now) - end :])


def _equal_from_start(one: Sequence[_Line], other: Sequence[_Line]) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
