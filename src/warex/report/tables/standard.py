"""The tables of a report, from which HTML, CSV, LaTeX and Markdown are written."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from warex.analysis.metrics.metric import Section
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Mean
from warex.analysis.stats.paired import Delta, NoiseFloor, Power
from warex.analysis.table.tabulate import Table
from warex.report.tables.attacks import attack_sheet
from warex.report.tables.columns import (
    CONDITION,
    Cell,
    Column,
    column,
    difference_column,
    figure_column,
    number_column,
    shown,
    text_column,
)
from warex.report.tables.comparisons import contrast_sheet, defence_sheet, dose_sheet
from warex.report.tables.endings import ending_sheet
from warex.report.tables.popups import popup_sheet
from warex.report.tables.sheet import Sheet, sheet_of
from warex.report.tables.sites import site_sheet
from warex.report.text import formatting
from warex.text.english import count_noun
from warex.traces import NO_PROXY

_UNRECORDED = " A dash: not known, since without the proxy nothing is recorded."


def sheets(run: Run, table: Table) -> tuple[Sheet, ...]:
    """Return the tables of a run in the order of the report, including empty ones."""
    faulted = [row for row in table.rows if row.exposure is not None]
    return (
        _baseline(run, table),
        _section(
            "success",
            "Success under each condition",
            "Rates with their 95 % interval; Δ in percentage points, paired by task and repeat.",
            table.rows,
        ),
        _section(
            "effort",
            "What a trial takes",
            f"Means per trial.{_UNRECORDED if NO_PROXY in run.conditions else ''}",
            table.rows,
        ),
        _section(
            "recovery",
            "Recovery and its price",
            "Only the agent's own: what the browser or the page heals by itself does not count.",
            faulted,
        ),
        _section(
            "strategy",
            "How agents wait and retry",
            "What they did after a fault, held against the rules of the web.",
            faulted,
        ),
        _section(
            "regimes",
            "How agents fail",
            "Success and effort read together, as in the paper's Appendix E.",
            [row for row in table.rows if row.regime],
        ),
        defence_sheet(table),
        dose_sheet(table),
        contrast_sheet(table),
        site_sheet(run),
        _section(
            "delivery",
            "What really reached the agents",
            "Planned is not delivered. Only what was delivered counts as exposure.",
            faulted,
        ),
        popup_sheet(table),
        attack_sheet(table),
        ending_sheet(table),
        _voids(run),
    )


def _section(section: Section, title: str, note: str, rows: Sequence[ConditionRow]) -> Sheet:
    """Return the table of a section's metrics, with success first."""
    lead = () if section in ("success", "delivery") else (ConditionRow.success,)
    metrics = (*lead, *shown((m for m in METRICS if m.section == section), rows))
    return sheet_of(section, title, note, (CONDITION, *map(column, metrics)), rows)


@dataclass(frozen=True, slots=True)
class _Baseline:
    """What is known of an agent without faults; None if unknown."""

    agent: str
    proxy_effect: Delta | None
    latency: Mean | None
    floor: NoiseFloor | None
    power: Power | None

    @property
    def noise_floor(self) -> Delta | None:
        """The difference of the noise floor."""
        return self.floor.delta if self.floor else None


def _flips_cell(of: _Baseline) -> Cell:
    if of.floor is None:
        return Cell(formatting.UNKNOWN, (None,) * 3)
    flips, pairs = of.floor.flips, of.floor.pairs
    return Cell(f"{flips} of {pairs}", (flips, pairs, of.floor.source))


def _drop_cell(of: _Baseline) -> Cell:
    if of.power is None:
        return Cell(formatting.UNKNOWN, (None,) * 3)
    drop, tasks = of.power.smallest_detectable_drop, of.power.n
    text = formatting.UNKNOWN if drop is None else count_noun(round(100 * drop), "point")
    return Cell(text, (drop, tasks, of.power.flips), count_noun(tasks, "task"))


_BASELINE: Final[tuple[Column, ...]] = (
    difference_column(
        "proxy_effect", "proxy effect", "Success: clean minus no-proxy, in points, paired."
    ),
    figure_column(
        "latency",
        "latency added",
        "Clean minus no-proxy, paired.",
        Mean,
        lambda mean: formatting.signed_mean(mean, 2, " s"),
        key="proxy_latency_s",
    ),
    difference_column(
        "noise_floor", "noise floor", "Success: clean minus clean once more.", pairs=False
    ),
    Column(
        "flips",
        "Pairs of the noise floor of which one side was solved and the other not.",
        ("flips", "flips_pairs", "noise_floor_source"),
        _flips_cell,
    ),
    Column(
        "smallest detectable drop",
        "The smallest fall of success that this many tasks show four times in five.",
        ("smallest_detectable_drop", "smallest_detectable_drop_tasks", "flip_share"),
        _drop_cell,
    ),
)


def _baseline(run: Run, table: Table) -> Sheet:
    effects, latencies = dict(table.proxy_effect), dict(table.proxy_latency)
    floors, power = dict(table.noise_floor), dict(table.power)
    agents = run.agents if effects or floors or power else ()
    return sheet_of(
        "instrument",
        "Baseline",
        "What the proxy alone does, how far clean differs from clean (A/A), and what a run of this"
        " size can see.",
        _BASELINE,
        (
            _Baseline(it, effects.get(it), latencies.get(it), floors.get(it), power.get(it))
            for it in agents
        ),
    )


class _Voids(NamedTuple):
    agent: str
    condition: str
    reason: str
    attempts: int


def _voids(run: Run) -> Sheet:
    counts = Counter(
        (a.key.agent, a.key.condition, getattr(a.outcome, "reason", ""))
        for a in run.attempts
        if a.void
    )
    return sheet_of(
        "voids",
        "Void attempts",
        "The harness broke, so these attempts do not count. A trial has up to three;"
        " if the last is void, it does not count. Its task counts through its other pairs.",
        (
            text_column("condition", "Under which it happened."),
            number_column("attempts", "attempts", "How many."),
            text_column("reason", "What broke."),
        ),
        sorted(
            (_Voids(*what, number) for what, number in counts.items()),
            key=lambda it: (run.agents.index(it.agent), it),
        ),
    )
