"""The recovery test: how often models answer a held-out fault correctly (paper §5.3, table 3).

Clean steps are included, so that a model which always reloads is recognised.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warex.analysis.stats.estimates import Rate, clustered_rate
from warex.analysis.stats.proportions import fisher
from warex.exports.rows import Row
from warex.training.evaluation.answer_classes import AnswerClass, ClassifiedAnswer

type Answers = Mapping[str, ClassifiedAnswer]


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One model's results; intervals are 95 %, clustered by task if a task has several steps."""

    name: str
    recovery: Rate
    """Of failure steps."""
    agreement: Rate
    """Of clean steps: exactly the expected action."""
    same_kind: Rate
    """Of clean steps: an action with the expected name."""
    false_reloads: Rate
    """Of clean steps."""
    classes: Mapping[AnswerClass, int]
    """Of failure steps."""
    p: float | None = None
    """Of Fisher's exact test of the recovery against the first model's; None for the first."""
    relative: float | None = None
    """Relative improvement of the recovery over the first model's; None if that is zero."""
    by_fault: Mapping[str, Rate] | None = None
    by_family: Mapping[str, Rate] | None = None


def results(rows: Sequence[Row], answered: Mapping[str, Answers]) -> tuple[ModelResult, ...]:
    """Return each model's results, compared with the first model."""
    model_results: list[ModelResult] = []
    for name, answers in answered.items():
        failures = [row for row in rows if row.kind == "failure" and row.id in answers]
        clean = [row for row in rows if row.kind == "clean" and row.id in answers]
        recovery = _rate(failures, answers, "recovery")
        first = model_results[0].recovery if model_results else None
        p = relative = None
        if first is not None and first.n and recovery.n:
            p = fisher((recovery.hits, recovery.n), (first.hits, first.n))
            before, after = first.value or 0.0, recovery.value or 0.0
            relative = after / before - 1 if before else None
        model_results.append(
            ModelResult(
                name=name,
                recovery=recovery,
                agreement=_rate(clean, answers, "agreement"),
                same_kind=clustered_rate((row.task, answers[row.id].same_kind) for row in clean),
                false_reloads=_rate(clean, answers, "false_reload"),
                classes=Counter(answers[row.id].label for row in failures),
                p=p,
                relative=relative,
                by_fault=_each(failures, answers, "fault"),
                by_family=_each(failures, answers, "page_family"),
            )
        )
    return tuple(model_results)


def _rate(rows: Sequence[Row], answers: Answers, wanted: AnswerClass) -> Rate:
    return clustered_rate((row.task, answers[row.id].label == wanted) for row in rows)


def _each(rows: Sequence[Row], answers: Answers, what: str) -> dict[str, Rate]:
    names = sorted({getattr(row, what) for row in rows} - {""})
    return {
        name: _rate([row for row in rows if getattr(row, what) == name], answers, "recovery")
        for name in names
    }
