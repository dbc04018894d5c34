"""How well trivial rules tell a data set's failures from its clean rows, across sites.

A model that is trained on classes which the number of elements or the words of a page tell apart
need not understand a page. The rules are learnt from some sites and asked about the others.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final, Literal

from pydantic import BaseModel

from warex.exports.bag_of_words import BagOfWords, can_count_words, prompt_text
from warex.exports.prompt_page import PromptPage, read_prompt
from warex.exports.rows import ChatMessage, RowMetadata
from warex.seeds import draw

_FOLDS: Final = 5
_MOST: Final = 1000
"""Rows that are measured, drawn by seed."""
_CALL: Final = re.compile(r"^[^\n(\[]*?(\w+)[ \t]*[(\[]", re.MULTILINE)

type _Rule = Callable[[Sequence[int], Sequence[int]], Sequence[bool]]
"""Takes the places of rows to learn from and of rows to decide: which of these are failures?"""


class Separability(BaseModel, frozen=True, extra="forbid"):
    """How well a rule tells failures from clean rows of sites, or tasks, it has not learnt from."""

    rule: str
    balanced_accuracy: float
    """Mean of the shares of failures and clean rows classified correctly; 0.5 is chance."""
    failures_found: float
    """Share of failures."""
    false_alarms: float
    """Share of clean rows."""
    held_out: Literal["site", "task"]
    rows: int
    """Number of rows measured."""


def separability(rows: Sequence[RowMetadata], seed: int = 0) -> tuple[Separability, ...]:
    """Return what each rule achieves, the best first.

    Empty if rows are of one kind or of one task. The rules on words are left out where
    scikit-learn is missing.
    """
    some = sorted(rows, key=lambda row: draw(seed, "separability", row.id))[:_MOST]
    failing = [row.kind == "failure" for row in some]
    held_out: Literal["site", "task"] = "site" if len({it.site for it in some}) > 1 else "task"
    folds = _folds([str(getattr(row, held_out)) for row in some])
    if len(set(failing)) < 2 or len(folds) < 2:
        return ()
    results = [
        _measured(name, rule, failing, folds, held_out)
        for name, rule in _rules(some, failing).items()
    ]
    return tuple(sorted(results, key=lambda it: -it.balanced_accuracy))


def _folds(groups: Sequence[str]) -> list[list[int]]:
    """Divide rows into folds of about one size; each group is in one fold."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        places[group].append(at)
    folds: list[list[int]] = [[] for _ in range(min(_FOLDS, len(places)))]
    for _, places_of_group in sorted(places.items(), key=lambda it: (-len(it[1]), it[0])):
        min(folds, key=len).extend(places_of_group)
    return folds


def _rules(rows: Sequence[RowMetadata], failing: Sequence[bool]) -> dict[str, _Rule]:
    prompts: list[list[ChatMessage]] = [getattr(row, "prompt") for row in rows]  # noqa: B009
    pages = [read_prompt(prompt) for prompt in prompts]
    counts = [len(page.usable) for page in pages]
    last = [_last_action(*both) for both in zip(prompts, pages, strict=True)]
    rules: dict[str, _Rule] = {
        "number of usable elements": lambda learnt, asked: _by_threshold(
            counts, failing, learnt, asked
        ),
        "last action of the history": lambda learnt, asked: _by_value(last, failing, learnt, asked),
    }
    if can_count_words():
        texts = {
            "words of the history": [page.history for page in pages],
            "words of the prompt": [prompt_text(prompt) for prompt in prompts],
        }
        rules |= {
            name: BagOfWords(some, failing).failures for name, some in texts.items() if any(some)
        }
    return rules


def _measured(
    name: str,
    rule: _Rule,
    failing: Sequence[bool],
    folds: Sequence[Sequence[int]],
    held_out: Literal["site", "task"],
) -> Separability:
    decided = [False] * len(failing)
    for fold in folds:
        learnt = [at for other in folds if other is not fold for at in other]
        for at, answer in zip(fold, rule(learnt, fold), strict=True):
            decided[at] = answer
    rates = {
        kind: sum(answer for answer, truth in zip(decided, failing, strict=True) if truth is kind)
        / failing.count(kind)
        for kind in (True, False)
    }
    return Separability(
        rule=name,
        balanced_accuracy=round((rates[True] + 1 - rates[False]) / 2, 4),
        failures_found=round(rates[True], 4),
        false_alarms=round(rates[False], 4),
        held_out=held_out,
        rows=len(failing),
    )


def _by_threshold(
    counts: Sequence[int], failing: Sequence[bool], learnt: Sequence[int], asked: Sequence[int]
) -> list[bool]:
    """Take pages with few elements for failures, up to the number that tells most."""

    def accuracy(most: int) -> float:
        return _weight([at for at in learnt if counts[at] <= most], failing, learnt)

    best = max(sorted({-1, *(counts[at] for at in learnt)}), key=accuracy)
    return [counts[at] <= best for at in asked]


def _by_value(
    values: Sequence[str], failing: Sequence[bool], learnt: Sequence[int], asked: Sequence[int]
) -> list[bool]:
    """Take a value that failures have more often than clean rows for a failure."""
    places: dict[str, list[int]] = defaultdict(list)
    for at in learnt:
        places[values[at]].append(at)
    wanted = {value for value, rows in places.items() if _weight(rows, failing, learnt) > 0}
    return [values[at] in wanted for at in asked]


def _weight(some: Sequence[int], failing: Sequence[bool], learnt: Sequence[int]) -> float:
    """Return the share of all failures that are among some rows, less the share of clean rows."""
    every, counts = (Counter(failing[at] for at in it) for it in (learnt, some))
    return counts[True] / max(1, every[True]) - counts[False] / max(1, every[False])


def _last_action(prompt: Sequence[ChatMessage], page: PromptPage) -> str:
    """Return the name of the last earlier action; empty if there is none."""
    calls = [call for message in prompt for call in message.get("tool_calls") or ()]
    if calls:
        return str((calls[-1].get("function") or {}).get("name"))
    actions = _CALL.findall(page.history)
    return actions[-1] if actions else ""
