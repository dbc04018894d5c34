"""The tables of tests beyond ``clean``: defences, doses, and one agent against another."""

from typing import Final, NamedTuple

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.stats.dose_response import DosePoint, DoseSeries
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Contrast
from warex.analysis.table.tabulate import Table
from warex.report.tables.columns import (
    Column,
    difference_column,
    number_column,
    rate_column,
    text_column,
)
from warex.report.tables.sheet import Sheet, sheet_of
from warex.report.text.formatting import p


class _Dose(NamedTuple):
    """One dose, with the series that it is of."""

    agent: str
    series: DoseSeries
    point: DosePoint


class _Contrast(NamedTuple):
    """One contrast, with both agents' names and rates."""

    agent: str
    contrast: Contrast
    first: Rate
    second: Rate
    p_paired: float | None


_DEFENCES: Final[tuple[Column, ...]] = (
    text_column("defence", "What is added to the system prompt."),
    text_column("with", "The condition that has it.", "condition"),
    text_column("without", "The condition it is held against.", "against"),
    difference_column("delta", "change", "In points, paired."),
    number_column(
        "delta.adjusted_p",
        "adj. p",
        "Two-sided, adjusted for the number of defences.",
        p,
        key="delta_p_holm",
    ),
)
_DOSES: Final[tuple[Column, ...]] = (
    text_column("fault", "What is dosed.", "series.of", key="of"),
    text_column("axis", "How hard, or how often.", "series.axis"),
    number_column(
        "point.value", "dose", "Times the fault's own size, or hits.", "{:g}".format, key="dose"
    ),
    rate_column(
        "point.success", ConditionRow.success.label, ConditionRow.success.definition, interval=True
    ),
    difference_column("point.delta", ConditionRow.delta.label, ConditionRow.delta.definition),
    number_column(
        "series.slope",
        "per doubling",
        "Change of success for each doubling of the dose.",
        lambda share: f"{100 * share:+.1f} points",
    ),
    number_column("series.slope_p", "p trend", "Of the trend, two-sided, not adjusted.", p),
    number_column(
        "series.slope_p_holm", "adj. p trend", "Adjusted for the number of trends (Holm).", p
    ),
)
_CONTRASTS: Final[tuple[Column, ...]] = (
    text_column("condition", "Under which both ran.", "contrast.condition"),
    text_column("figure", "What is compared.", "contrast.figure"),
    rate_column("first", "first", "The first agent's rate.", interval=True),
    rate_column("second", "second", "The second agent's rate.", interval=True),
    number_column(
        "contrast.p_fisher", "p Fisher", "Fisher's exact test, two-sided, not adjusted.", p
    ),
    number_column(
        "contrast.relative_change",
        "relative",
        "The second's rate over the first's, minus 1.",
        lambda share: f"{100 * share:+.1f} %",
    ),
    difference_column(
        "contrast.paired",
        "paired Δ",
        "The second's success minus the first's, in points, paired.",
        pairs=False,
    ),
    number_column("p_paired", "p paired", "Of the paired difference, not adjusted.", p),
    number_column("contrast.p_holm", "adj. p", "Adjusted for the number of contrasts (Holm).", p),
)


def defence_sheet(table: Table) -> Sheet:
    """Return the effects of defences."""
    return sheet_of(
        "defences",
        "What a defence changes",
        "Success with the defence minus that without it, in points, paired by task and repeat.",
        _DEFENCES,
        table.defences,
    )


def dose_sheet(table: Table) -> Sheet:
    """Return success at each dose of each fault, with its trend."""
    return sheet_of(
        "doses",
        "Dose and response",
        "The trend over the doses is one test for all of them: tasks' own slopes, with signs"
        " flipped.",
        _DOSES,
        (_Dose(of.agent, of, point) for of in table.doses for point in of.points),
    )


def contrast_sheet(table: Table) -> Sheet:
    """Return the contrasts of agents."""
    return sheet_of(
        "contrasts",
        "One agent against another",
        "The paired difference is the better test wherever both ran the same tasks. The adjusted p"
        " is for all contrasts of this table together (Holm); alone, it is the paired test's p, or"
        " Fisher's without pairs.",
        _CONTRASTS,
        (
            _Contrast(" and ".join(it.agents), it, *it.rates, it.paired.p if it.paired else None)
            for it in table.contrasts
        ),
    )
