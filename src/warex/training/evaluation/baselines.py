"""Trivial baselines on a test's rows: what a model has to surpass to have learnt anything.

Most only decide whether the page is loaded again; one clicks the first element of every page. A
test on which one of them is nearly always right tells models that understand a page from no others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from warex.analysis.stats.estimates import Rate, clustered_rate
from warex.exports.bag_of_words import BagOfWords, can_count_words, prompt_text
from warex.exports.prompt_page import read_prompt
from warex.exports.rows import Row
from warex.llm.actions.base import Action
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.evaluation.executed_actions import (
    asks_again,
    executed_action,
    kind_of,
    values_of,
)

FEW: Final = 2
"""Usable elements of a page up to which the rule loads it again."""
SEPARABLE: Final = 0.95
"""Balanced accuracy from which a baseline makes a test trivial."""
_CHANCE: Final = 0.5
_FOLDS: Final = 5
_CLICK: Final = "click"
_TEXTS: Final[Mapping[str, Callable[[Row], str]]] = {
    "bag of words": lambda row: prompt_text(row.prompt),
    "words of the history": lambda row: read_prompt(row.prompt).history,
}
"""The texts whose words are counted, by the baseline's name."""


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """What a baseline does on a test's rows."""

    name: str
    learnt_from: str
    """Empty for a rule."""
    recovery: Rate
    """Of failure steps: the page is loaded again."""
    false_reloads: Rate
    """Of clean steps."""
    agreement: Rate | None = None
    """Of clean steps: the wanted action. None for a baseline that decides only on reloads."""

    @property
    def balanced(self) -> float | None:
        """The mean of the shares of failures and clean steps it is right on; None without both.

        A baseline that decides only on reloads is right on a clean step where it does not reload.
        """
        recovered, reloaded = self.recovery.value, self.false_reloads.value
        if recovered is None or reloaded is None:
            return None
        agreed = 1 - reloaded if self.agreement is None else self.agreement.value or 0
        return (recovered + agreed) / 2

    @property
    def is_nearly_perfect(self) -> bool:
        """Whether it is right more often than ``SEPARABLE``, be it by chance."""
        return self.balanced is not None and self.balanced > SEPARABLE

    @property
    def separates(self) -> bool:
        """Whether the test is trivial: both kinds' intervals are above a half, too.

        Those of fewer than six tasks of a kind never are.
        """
        if self.agreement is None:
            agreed = 1 - self.false_reloads.interval[1]
        else:
            agreed = self.agreement.interval[0]
        return self.is_nearly_perfect and min(self.recovery.interval[0], agreed) > _CHANCE


def baselines(
    rows: Sequence[Row], train: Sequence[Row], vocabulary: Callable[[Row], Vocabulary]
) -> tuple[BaselineResult, ...]:
    """Return the baselines' results on a test's rows.

    Words, of the whole prompt and of its history alone, are learnt from ``train`` if that has
    failures and clean steps, else from the test's own rows of other sites (of other tasks if there
    is one site), and are left out where neither is possible or scikit-learn is missing.
    """
    two_kinds = len({row.kind for row in train}) == 2
    learnt = f"{len(train)} training rows" if two_kinds else "the test"
    guesses: dict[tuple[str, str], Sequence[bool]] = {
        ("few elements", ""): [len(read_prompt(row.prompt).usable) <= FEW for row in rows]
    }
    by = learnt if two_kinds else f"the test, by {_group_name(rows)}"
    for name, text_of in _TEXTS.items():
        reloads = _by_words(rows, train if two_kinds else (), text_of)
        if reloads is not None:
            guesses[name, by] = reloads
    failing = [row.kind == "failure" for row in (train if two_kinds else rows)]
    guesses["majority", learnt] = [2 * sum(failing) >= len(failing)] * len(rows)
    results = [_result(name, by, rows, some, vocabulary) for (name, by), some in guesses.items()]
    return (*results, _first_element(rows, vocabulary))


def separable_by(results: Sequence[BaselineResult]) -> BaselineResult | None:
    """Return the baseline that separates a test's failures from its clean steps, if one does."""
    some = [it for it in results if it.separates]
    return max(some, key=lambda it: it.balanced or 0, default=None)


def _result(
    name: str,
    learnt_from: str,
    rows: Sequence[Row],
    reloads: Sequence[bool],
    vocabulary: Callable[[Row], Vocabulary],
) -> BaselineResult:
    decided = list(zip(rows, reloads, strict=True))
    return BaselineResult(
        name,
        learnt_from,
        clustered_rate((row.task, reload) for row, reload in decided if row.kind == "failure"),
        clustered_rate(
            (row.task, reload and not _wants_reload(row, vocabulary(row)))
            for row, reload in decided
            if row.kind == "clean"
        ),
    )


def _first_element(rows: Sequence[Row], vocabulary: Callable[[Row], Vocabulary]) -> BaselineResult:
    """Return what a click on the first element that can be used comes to."""
    right: list[tuple[Row, bool, bool]] = []
    for row in rows:
        words = vocabulary(row)
        wanted = executed_action(row.answer, words)
        first = next((it.id for it in read_prompt(row.prompt).usable), None)
        click = None if first is None else Action(_CLICK, (first,))
        again = click is not None and asks_again(click, row, words)
        is_wanted = (
            wanted is not None
            and first is not None
            and kind_of(wanted) == "click"
            and values_of(wanted)[:1] == [first]
        )
        right.append((row, is_wanted, again))
    clean = [it for it in right if it[0].kind == "clean"]
    return BaselineResult(
        "first element",
        "",
        clustered_rate(
            (row.task, wanted or again) for row, wanted, again in right if row.kind == "failure"
        ),
        clustered_rate((row.task, again and not wanted) for row, wanted, again in clean),
        clustered_rate((row.task, wanted) for row, wanted, _ in clean),
    )


def _wants_reload(row: Row, vocabulary: Vocabulary) -> bool:
    wanted = executed_action(row.answer, vocabulary)
    return wanted is not None and asks_again(wanted, row, vocabulary)


def _by_words(
    rows: Sequence[Row], train: Sequence[Row], text_of: Callable[[Row], str]
) -> list[bool] | None:
    """Return whether a logistic regression on words would load each row's page again."""
    groups = [getattr(row, _group_name(rows)) for row in rows]
    enough = len({row.kind for row in rows}) == 2 and len(set(groups)) > 1
    if not can_count_words() or not (train or enough):
        return None
    both = [*train, *rows]
    texts = [text_of(row) for row in both]
    if not any(map(str.strip, texts)):
        return None
    words = BagOfWords(texts, [row.kind == "failure" for row in both])
    if train:
        return words.failures(range(len(train)), range(len(train), len(both)))
    from sklearn.model_selection import GroupKFold

    reloads = [False] * len(rows)
    for learnt, asked in GroupKFold(min(_FOLDS, len(set(groups)))).split(rows, groups=groups):
        for at, reload in zip(asked, words.failures(learnt, asked), strict=True):
            reloads[at] = reload
    return reloads


def _group_name(rows: Sequence[Row]) -> str:
    return "site" if len({row.site for row in rows}) > 1 else "task"
