"""Preference pairs (DPO) and labelled answers (KTO)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from warex.exports.examples import Example
from warex.exports.leaks import observation
from warex.exports.rows import LabelledAnswer, PreferencePair, Row

_ALIKE: Final = 0.8
"""Similarity from which an answer to one prompt counts as an answer to another."""


def pairs(examples: Sequence[Example]) -> Iterator[PreferencePair]:
    """Yield a pair for each recovered step, with a lost answer for the same task, page and fault.

    A relabelled lost step forms a pair by itself.
    """
    lost: dict[tuple[str, ...], list[Example]] = defaultdict(list)
    for example in examples:
        if example.part == "lost" and not example.row.relabelled:
            lost[_state(example.row)].append(example)
    for example in examples:
        if example.row.relabelled:
            yield _pair(example.row, example)
        elif example.part == "recovery":
            near = [it for it in lost[_state(example.row)] if _alike(example.row, it.row)]
            if near:
                yield _pair(example.row, near[0])


def labels(examples: Sequence[Example]) -> Iterator[LabelledAnswer]:
    """Yield each answer with its label: False for lost ones."""
    for example in examples:
        row = example.row
        facts = {**row.model_dump(exclude={"messages", "tools"}), "tools": row.tools}
        if example.part != "lost" or row.relabelled:
            yield LabelledAnswer(**facts, prompt=row.prompt, completion=[row.answer], label=True)
        if example.part == "lost":
            own = {**facts, "id": f"{facts['id']}-own", "relabelled": False}
            yield LabelledAnswer(**own, prompt=row.prompt, completion=[example.own], label=False)


def _state(row: Row) -> tuple[str, ...]:
    return (row.benchmark, row.vocabulary, row.task, row.fault, row.page_family, row.url)


def _alike(one: Row, other: Row) -> bool:
    if one.prompt == other.prompt:
        return True
    return SequenceMatcher(None, observation(one), observation(other)).quick_ratio() >= _ALIKE


def _pair(row: Row, lost: Example) -> PreferencePair:
    facts = row.model_dump(exclude={"messages", "tools"})
    return PreferencePair(
        **facts, tools=row.tools, prompt=row.prompt, chosen=[row.answer], rejected=[lost.own]
    )
