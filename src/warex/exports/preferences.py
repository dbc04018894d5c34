"""Preference pairs (DPO) and labelled answers (KTO)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from warex.exports.examples import Example
from warex.exports.leaks import observation
from warex.exports.prompt_page import read_prompt
from warex.exports.rows import LabelledAnswer, PreferencePair, Row

_UNWANTED: Final = ("lost", "mistake")
_ALIKE: Final = 0.8
"""Similarity from which an answer to one prompt counts as an answer to another."""


def pairs(examples: Sequence[Example]) -> Iterator[PreferencePair]:
    """Yield a pair for each recovered step, with a lost answer for the same task, page and fault.

    A relabelled lost step forms a pair by itself. A clean step forms one with a mistake on the same
    page of the same task.
    """
    lost: dict[tuple[str, ...], list[Example]] = defaultdict(list)
    for example in examples:
        if example.part in _UNWANTED and not example.row.relabelled:
            lost[_state(example.row)].append(example)
    for example in examples:
        if example.row.relabelled:
            yield _pair(example.row, example)
        elif example.part not in _UNWANTED:
            near = [
                it
                for it in lost[_state(example.row)]
                if it.own != example.row.answer and _same_action(example.row, it.row)
            ]
            if near:
                yield _pair(example.row, near[0])


def labels(examples: Sequence[Example]) -> Iterator[LabelledAnswer]:
    """Yield each answer with its label: False for lost ones and mistakes."""
    for example in examples:
        row = example.row
        facts = {**row.model_dump(exclude={"messages", "tools"}), "tools": row.tools}
        if example.part not in _UNWANTED or row.relabelled:
            yield LabelledAnswer(**facts, prompt=row.prompt, completion=[row.answer], label=True)
        if example.part in _UNWANTED:
            own = {**facts, "id": f"{facts['id']}-own", "relabelled": False}
            yield LabelledAnswer(**own, prompt=row.prompt, completion=[example.own], label=False)


def _state(row: Row) -> tuple[str, ...]:
    return (row.benchmark, row.vocabulary, row.task, row.fault, row.page_family, row.url)


def _same_action(one: Row, other: Row) -> bool:
    if one.kind == "clean":
        # What is wrong on a clean page may be right on one that is only like it.
        return read_prompt(one.prompt).page == read_prompt(other.prompt).page
    if one.prompt == other.prompt:
        return True
    return SequenceMatcher(None, observation(one), observation(other)).quick_ratio() >= _ALIKE


def _pair(row: Row, lost: Example) -> PreferencePair:
    facts = row.model_dump(exclude={"messages", "tools"})
    return PreferencePair(
        **facts,
        tools=row.tools,
        prompt=row.prompt,
        chosen=[row.answer],
        rejected=[lost.own],
        rejected_model=lost.model,
    )
