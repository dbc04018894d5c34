"""Gates of comparisons: thresholds of the change from one side to the other, as of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from warex.analysis.output.comparison import Comparison, ComparisonVerdict
from warex.analysis.output.thresholds import (
    Claim,
    GateEnd,
    JudgedRow,
    Judgement,
    Ranges,
    Threshold,
    judge,
    parse_thresholds,
)
from warex.errors import InputError
from warex.text.english import did_you_mean

CHANGES: Final[Ranges] = {"delta": (-1.0, 1.0), "delta_recovery": (-1.0, 1.0)}
"""The metrics: the change of success and of recovery, after minus before."""

_ENDS: Final[Mapping[ComparisonVerdict, GateEnd]] = {
    "better": "holds",
    "worse": "broken",
    "cannot tell": "cannot tell",
}


def judge_comparisons(comparisons: Sequence[Comparison], expression: str) -> Judgement:
    """Hold the changes under each condition against thresholds.

    Without a condition a threshold applies to all with faults or, if there are none, to all. Raises
    InputError for an invalid expression, and for a condition that is not compared.
    """
    return judge(
        [
            claim
            for threshold in parse_thresholds(expression, CHANGES)
            for comparison in comparisons
            for claim in _claims(comparison, threshold)
        ]
    )


def judge_verdicts(comparisons: Sequence[Comparison]) -> Judgement:
    """Return the judgement of ``--fail-if-worse``: of each verdict on the very tasks."""
    return Judgement(
        tuple(
            JudgedRow(
                "not worse",
                _ENDS[each.verdict],
                f"{each.after.agent}: {each.verdict}: {each.why}."
                if _ENDS[each.verdict] != "holds"
                else "",
            )
            for each in comparisons
        )
    )


def _claims(comparison: Comparison, threshold: Threshold) -> Iterator[Claim]:
    known = {change.condition: change for change in comparison.changes}
    if threshold.scope and threshold.scope not in known:
        raise InputError(
            f"{threshold.text!r}: there is no condition {threshold.scope!r} on both sides"
            f"{did_you_mean(threshold.scope, known) or f'. There are: {", ".join(known)}'}"
        )
    faulted = [change for change in comparison.changes if change.faulted]
    for change in [known[threshold.scope]] if threshold.scope else faulted or comparison.changes:
        yield Claim(
            f"{comparison.after.agent}, {change.condition}: {threshold.metric}",
            change.success if threshold.metric == "delta" else change.recovery,
            threshold,
            "no trial can be judged on both sides",
        )
