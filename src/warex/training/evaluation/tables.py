"""The recovery test's tables: rates, classes, and answers side by side (paper, table 3)."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from rich.table import Table

from warex.analysis.stats.estimates import Rate
from warex.exports.rows import Row
from warex.text.escaping import escape_controls
from warex.training.evaluation.ablation import AblationResult
from warex.training.evaluation.answer_classes import CLASSES, ClassifiedAnswer
from warex.training.evaluation.baselines import SEPARABLE, BaselineResult, separable_by
from warex.training.evaluation.recovery_test import Answers, ModelResult

_LONGEST = 60


def summary(results: Sequence[ModelResult]) -> Table:
    """Return a terminal table of each model's rates, with the classes of its answers below."""
    table = _table("model", "recovered", "p", "relative", "agrees", "same kind", "false reloads")
    for one in results:
        table.add_row(
            escape_controls(one.name),
            shown(one.recovery),
            "" if one.p is None else _p(one.p),
            "" if one.relative is None else f"{one.relative:+.1%}",
            shown(one.agreement),
            shown(one.same_kind),
            shown(one.false_reloads),
        )
    for one in results:
        counts = [f"{name} {one.classes[name]}" for name in CLASSES if one.classes.get(name)]
        table.add_row()
        table.add_row(f"{escape_controls(one.name)}: {', '.join(counts)}")
    return table


def ablation(outcomes: Sequence[AblationResult]) -> Table:
    """Return each variant's results; over several seeds the mean and the range."""
    table = _table("trained on", "failures", "clean", "recovered", "agrees", "false reloads")
    for variant in dict.fromkeys(one.variant for one in outcomes):
        some = [one for one in outcomes if one.variant == variant]
        table.add_row(
            variant.name,
            str(some[0].failures),
            str(some[0].clean),
            _range([one.result.recovery for one in some]),
            _range([one.result.agreement for one in some]),
            _range([one.result.false_reloads for one in some]),
        )
    return table


def _table(first: str, *numbers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _range(rates: Sequence[Rate]) -> str:
    """Format one rate with its interval, several as mean and range: ``80% (75-85%)``."""
    if len(rates) == 1:
        return shown(rates[0])
    values = [rate.value for rate in rates if rate.value is not None]
    if not values:
        return "—"
    return f"{fmean(values):.0%} ({min(values) * 100:.0f}-{max(values):.0%})"


def summary_data(results: Sequence[ModelResult]) -> list[dict[str, Any]]:
    """Return each model's results as JSON: rates with hits, n and 95 % interval."""
    return [
        {
            "model": one.name,
            "recovery": _data(one.recovery),
            "p": one.p,
            "relative_improvement": one.relative,
            "clean": {
                "agreement": _data(one.agreement),
                "same_kind": _data(one.same_kind),
                "false_reloads": _data(one.false_reloads),
            },
            "classes": dict(one.classes),
            "by_fault": {name: _data(it) for name, it in (one.by_fault or {}).items()},
            "by_page_family": {name: _data(it) for name, it in (one.by_family or {}).items()},
        }
        for one in results
    ]


def baseline_summary(trivial: Sequence[BaselineResult]) -> Table:
    """Return a terminal table of each baseline's rates on the same rows."""
    table = _table("baseline", "recovered", "agrees", "false reloads", "learnt from")
    for one in trivial:
        table.add_row(
            one.name,
            shown(one.recovery),
            _agreement(one),
            shown(one.false_reloads),
            one.learnt_from,
        )
    return table


def baseline_data(trivial: Sequence[BaselineResult]) -> list[dict[str, Any]]:
    """Return each baseline's result as JSON."""
    return [
        {
            "baseline": one.name,
            "learnt_from": one.learnt_from,
            "recovery": _data(one.recovery),
            "clean": {
                "false_reloads": _data(one.false_reloads),
                "agreement": None if one.agreement is None else _data(one.agreement),
            },
            "balanced_accuracy": one.balanced,
        }
        for one in trivial
    ]


def verdict_on_test(trivial: Sequence[BaselineResult]) -> str:
    """Return a sentence on whether a test is separable; empty where it has not both kinds."""
    if all(one.balanced is None for one in trivial):
        return ""
    separating = separable_by(trivial)
    best = separating or max(trivial, key=lambda one: one.balanced or 0)
    right = f"{best.name} is right in {best.balanced or 0:.0%} (the mean of both kinds)"
    if separating is not None:
        return (
            f"This test is separable: {right}, more than {SEPARABLE:.0%}, without understanding a"
            " page. Ask the hard test, too: --test hard."
        )
    if best.is_nearly_perfect:
        return (
            f"This test has too few tasks to tell whether it is separable: {right}, but the 95 %"
            " intervals of both kinds have to lie above 50%, which takes six tasks of each."
        )
    return f"This test is not separable by a trivial baseline: {right}."


def baseline_table(trivial: Sequence[BaselineResult]) -> str:
    """Return the baselines' rates as a Markdown table, with the verdict on the test."""
    lines = [
        "| baseline | learnt from | recovered | clean: agrees | false reloads |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {one.name} | {one.learnt_from or '—'} | {shown(one.recovery)} | {_agreement(one)} |"
        f" {shown(one.false_reloads)} |"
        for one in trivial
    ]
    return "\n".join([*lines, "", verdict_on_test(trivial), ""])


def _agreement(one: BaselineResult) -> str:
    return "—" if one.agreement is None else shown(one.agreement)


def side_by_side(rows: Sequence[Row], answered: Mapping[str, Answers]) -> str:
    """Return each model's answers, to faults and to clean steps, as two Markdown tables."""
    faults = [
        (row, f"{row.fault} {row.page_family}".strip()) for row in rows if row.kind == "failure"
    ]
    steps = [(row, f"step {row.step}") for row in rows if row.kind == "clean"]
    tables = [
        _answers_table(title, some, answered)
        for title, some in (("fault", faults), ("clean step", steps))
        if some
    ]
    return "\n".join(tables)


def _answers_table(
    title: str, rows: Sequence[tuple[Row, str]], answered: Mapping[str, Answers]
) -> str:
    names = list(answered)
    lines = [f"| task | {title} | {' | '.join(names)} |", f"| --- | --- |{' --- |' * len(names)}"]
    for row, what in rows:
        answers = [_shown_answer(answered[name].get(row.id)) for name in names]
        lines.append(f"| {_cell(row.task)} | {what} | {' | '.join(answers)} |")
    return "\n".join(lines) + "\n"


def shown(rate: Rate) -> str:
    """Format a rate with its interval: ``17/21 (60-92 %)``; a dash if it is empty."""
    if rate.value is None:
        return "—"
    low, high = rate.interval
    return f"{rate} ({low * 100:.0f}-{high:.0%})"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _data(rate: Rate) -> dict[str, Any]:
    return {"hits": rate.hits, "n": rate.n, "value": rate.value, "interval": list(rate.interval)}


def _shown_answer(answer: ClassifiedAnswer | None) -> str:
    if answer is None:
        return "—"
    mark = "✓" if answer.label in ("recovery", "agreement") else "✗"
    action = f" `{_cell(answer.action)}`" if answer.action else ""
    return f"{mark} {answer.label.replace('_', ' ')}{action}"


def _cell(text: str) -> str:
    one_line = " ".join(escape_controls(text).split()).replace("|", "\\|").replace("`", "'")
    return one_line if len(one_line) <= _LONGEST else f"{one_line[:_LONGEST]}…"
