"""The tables of a report, from which HTML, CSV, LaTeX and Markdown are written."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from warex.analysis.metrics.metric import Section, values_of
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Contrast, Delta
from warex.analysis.table.tabulate import Table
from warex.analysis.trial.record import TrialRecord
from warex.report.tables.attacks import attack_sheet
from warex.report.tables.columns import (
    CONDITION,
    Cell,
    Column,
    cell,
    column,
    difference_cell,
    figure_column,
    number_cell,
    rate_cell,
    shown,
    text_cell,
    text_column,
)
from warex.report.tables.endings import ending_sheet
from warex.report.tables.popups import popup_sheet
from warex.report.tables.sheet import Sheet, blocks
from warex.report.text import formatting
from warex.text.english import count_noun
from warex.traces import NO_PROXY

_UNRECORDED = " A dash: not known, since without the proxy nothing is recorded."

ELSEWHERE = "elsewhere"
"""The site of tasks whose trials have no recorded traffic."""


def sheets(run: Run, table: Table) -> tuple[Sheet, ...]:
    """Return the tables of a run in the order of the report, including empty ones."""
    faulted = [row for row in table.rows if row.exposure is not None]
    return (
        _baseline(run, table),
        _section(
            "success",
            "Success under each condition",
            "Rates with their 95 % interval; Δ in percentage points, paired by task and repeat.",
            run,
            table.rows,
        ),
        _section(
            "effort",
            "What a trial takes",
            f"Means per trial.{_UNRECORDED if NO_PROXY in run.conditions else ''}",
            run,
            table.rows,
        ),
        _section(
            "recovery",
            "Recovery and its price",
            "Only the agent's own: what the browser or the page heals by itself does not count.",
            run,
            faulted,
        ),
        _section(
            "strategy",
            "How agents wait and retry",
            "What they did after a fault, held against the rules of the web.",
            run,
            faulted,
        ),
        _section(
            "regimes",
            "How agents fail",
            "Success and effort read together, as in the paper's Appendix E.",
            run,
            [row for row in table.rows if row.regime],
        ),
        _defences(run, table),
        _doses(run, table),
        _contrasts(table),
        _sites(run),
        _section(
            "delivery",
            "What really reached the agents",
            "Planned is not delivered. Only what was delivered counts as exposure.",
            run,
            faulted,
        ),
        popup_sheet(run, table),
        attack_sheet(run, table),
        ending_sheet(run, table),
        _voids(run),
    )


def _section(
    section: Section, title: str, note: str, run: Run, rows: Sequence[ConditionRow]
) -> Sheet:
    """Return the table of a section's metrics, with success first."""
    lead = () if section in ("success", "delivery") else (ConditionRow.success,)
    metrics = (*lead, *shown((m for m in METRICS if m.section == section), rows))
    lines: dict[str, list[tuple[Cell, ...]]] = {agent: [] for agent in run.agents}
    for row in rows:
        cells = (cell(metric, row) for metric in metrics)
        lines[row.agent].append((text_cell(row.condition), *cells))
    return Sheet(section, title, note, (CONDITION, *map(column, metrics)), blocks(lines))


def _baseline(run: Run, table: Table) -> Sheet:
    effects, slower = dict(table.proxy_effect), dict(table.proxy_latency)
    floors, power = dict(table.noise_floor), dict(table.power)
    lines: dict[str, list[tuple[Cell, ...]]] = {}
    for agent in run.agents:
        floor, seen = floors.get(agent), power.get(agent)
        drop = seen.smallest_detectable_drop if seen else None
        lines[agent] = [
            (
                difference_cell(effects.get(agent)),
                _seconds(slower.get(agent)),
                difference_cell(floor.delta if floor else None, floor.pairs if floor else 0),
                Cell(f"{floor.flips} of {floor.pairs}", (floor.flips, floor.pairs, floor.source))
                if floor
                else Cell(formatting.UNKNOWN, (None,) * 3),
                Cell(
                    formatting.UNKNOWN if drop is None else count_noun(round(100 * drop), "point"),
                    (drop, seen.n if seen else None, seen.flips if seen else None),
                    count_noun(seen.n, "task") if seen else "",
                ),
            )
        ]
    known = effects or floors or power
    return Sheet(
        "instrument",
        "Baseline",
        "What the proxy alone does, how far clean differs from clean (A/A), and what a run of this"
        " size can see.",
        (
            figure_column(
                "proxy effect",
                "Success: clean minus no-proxy, in points, paired.",
                "proxy_effect",
                Delta,
            ),
            figure_column(
                "latency added", "Clean minus no-proxy, paired.", "proxy_latency_s", Mean
            ),
            figure_column(
                "noise floor", "Success: clean minus clean once more.", "noise_floor", Delta
            ),
            Column(
                "flips",
                "Pairs of the noise floor of which one side was solved and the other not.",
                ("flips", "flips_pairs", "noise_floor_source"),
            ),
            Column(
                "smallest detectable drop",
                "The smallest fall of success that this many tasks show four times in five.",
                ("smallest_detectable_drop", "smallest_detectable_drop_tasks", "flip_share"),
            ),
        ),
        blocks(lines) if known else (),
    )


def _defences(run: Run, table: Table) -> Sheet:
    lines: dict[str, list[tuple[Cell, ...]]] = {agent: [] for agent in run.agents}
    for effect in table.defences:
        lines[effect.agent].append(
            (
                text_cell(effect.defence),
                text_cell(effect.condition),
                text_cell(effect.against),
                difference_cell(effect.delta),
                number_cell(effect.delta.adjusted_p, formatting.p),
            )
        )
    return Sheet(
        "defences",
        "What a defence changes",
        "Success with the defence minus that without it, in points, paired by task and repeat.",
        (
            text_column("defence", "What is added to the system prompt."),
            text_column("with", "The condition that has it."),
            text_column("without", "The condition it is held against."),
            figure_column("change", "In points, paired.", "delta", Delta),
            Column("adj. p", "Two-sided, adjusted for the number of defences.", ("delta_p_holm",)),
        ),
        blocks(lines),
    )


def _doses(run: Run, table: Table) -> Sheet:
    lines: dict[str, list[tuple[Cell, ...]]] = {agent: [] for agent in run.agents}
    for series in table.doses:
        slope = number_cell(series.slope, lambda share: f"{100 * share:+.1f} points")
        for point in series.points:
            lines[series.agent].append(
                (
                    text_cell(series.of),
                    text_cell(series.axis),
                    number_cell(point.value, "{:g}".format),
                    rate_cell(point.success, interval=True),
                    difference_cell(point.delta),
                    slope,
                    number_cell(series.slope_p, formatting.p),
                    number_cell(series.slope_p_holm, formatting.p),
                )
            )
    return Sheet(
        "doses",
        "Dose and response",
        "The trend over the doses is one test for all of them: tasks' own slopes, with signs"
        " flipped.",
        (
            Column("fault", "What is dosed.", ("of",), is_text=True),
            text_column("axis", "How hard, or how often."),
            Column("dose", "Times the fault's own size, or hits.", ("dose",)),
            column(ConditionRow.success),
            column(ConditionRow.delta),
            Column("per doubling", "Change of success for each doubling of the dose.", ("slope",)),
            Column("p trend", "Of the trend, two-sided, not adjusted.", ("slope_p",)),
            Column("adj. p trend", "Adjusted for the number of trends (Holm).", ("slope_p_holm",)),
        ),
        blocks(lines),
    )


def _contrasts(table: Table) -> Sheet:
    lines: dict[str, list[tuple[Cell, ...]]] = defaultdict(list)
    for contrast in table.contrasts:
        lines[" and ".join(contrast.agents)].append(_contrast(contrast))
    return Sheet(
        "contrasts",
        "One agent against another",
        "The paired difference is the better test wherever both ran the same tasks. The adjusted p"
        " is for all contrasts of this table together (Holm); alone, it is the paired test's p, or"
        " Fisher's without pairs.",
        (
            text_column("condition", "Under which both ran."),
            text_column("figure", "What is compared."),
            figure_column("first", "The first agent's rate.", "first", Rate),
            figure_column("second", "The second agent's rate.", "second", Rate),
            Column("p Fisher", "Fisher's exact test, two-sided, not adjusted.", ("p_fisher",)),
            Column(
                "relative", "The second's rate over the first's, minus 1.", ("relative_change",)
            ),
            figure_column(
                "paired Δ",
                "The second's success minus the first's, in points, paired.",
                "paired",
                Delta,
            ),
            Column("p paired", "Of the paired difference, not adjusted.", ("p_paired",)),
            Column("adj. p", "Adjusted for the number of contrasts (Holm).", ("p_holm",)),
        ),
        blocks(lines),
    )


def _sites(run: Run) -> Sheet:
    titles = tuple(
        Column(c, "Success under this condition.", (c, f"{c}_n")) for c in run.conditions
    )
    lines: dict[str, list[tuple[Cell, ...]]] = {agent: [] for agent in run.agents}
    for (agent, site), by_condition in site_rates(run).items():
        cells = (_of(by_condition.get(condition, Rate(0, 0))) for condition in run.conditions)
        lines[agent].append((text_cell(site), *cells))
    return Sheet(
        "sites",
        "Success by site",
        "A task's site is the host of the first page it opens.",
        (text_column("site", "Host."), *titles),
        blocks(lines),
    )


def _voids(run: Run) -> Sheet:
    why = Counter(
        (a.key.agent, a.key.condition, getattr(a.outcome, "reason", ""))
        for a in run.attempts
        if a.void
    )
    lines: dict[str, list[tuple[Cell, ...]]] = {agent: [] for agent in run.agents}
    for (agent, condition, reason), number in sorted(why.items()):
        lines[agent].append((text_cell(condition), number_cell(number), text_cell(reason)))
    return Sheet(
        "voids",
        "Void attempts",
        "The harness broke, so these attempts do not count. A trial has up to three;"
        " if the last is void, it does not count. Its task counts through its other pairs.",
        (
            text_column("condition", "Under which it happened."),
            Column("attempts", "How many.", ("attempts",)),
            text_column("reason", "What broke."),
        ),
        blocks(lines),
    )


def site_rates(run: Run) -> Mapping[tuple[str, str], dict[str, Rate]]:
    """Return success by agent and site under each condition."""
    site_of = site_by_task(run.trials)
    outcomes: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for trial in run.trials:
        key = trial.key
        if trial.solved is None:
            continue
        outcomes[key.agent, site_of[key.benchmark, key.task]][key.condition].append(trial.solved)
    order = {agent: place for place, agent in enumerate(run.agents)}
    return {
        place: {c: Rate(sum(solved), len(solved)) for c, solved in outcomes[place].items()}
        for place in sorted(outcomes, key=lambda place: (order[place[0]], place[1]))
    }


def site_by_task(trials: Sequence[TrialRecord]) -> Mapping[tuple[str, str], str]:
    """Return the site of each task (benchmark, name): by the first page of most of its trials."""
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for trial in trials:
        here = seen[trial.key.benchmark, trial.key.task]
        if trial.site is not None:
            here[trial.site] += 1
    return {
        task: min(hosts, key=lambda host: (-hosts[host], host)) if hosts else ELSEWHERE
        for task, hosts in seen.items()
    }


def _contrast(of: Contrast) -> tuple[Cell, ...]:
    return (
        text_cell(of.condition),
        text_cell(of.figure),
        rate_cell(of.rates[0], interval=True),
        rate_cell(of.rates[1], interval=True),
        number_cell(of.p_fisher, formatting.p),
        number_cell(of.relative_change, lambda share: f"{100 * share:+.1f} %"),
        difference_cell(of.paired, of.paired.pairs if of.paired else 0),
        number_cell(of.paired.p if of.paired else None, formatting.p),
        number_cell(of.p_holm, formatting.p),
    )


def _seconds(of: Mean | None) -> Cell:
    if of is None:
        return Cell(formatting.UNKNOWN, (None,) * 3)
    span = " [{:+.2f}, {:+.2f}]".format(*of.interval) if of.interval else ""
    return Cell(f"{of.value:+.2f} s{span}", values_of(of, Mean))


def _of(of: Rate) -> Cell:
    if of.value is None:
        return Cell(formatting.UNKNOWN, (None, None))
    return Cell(formatting.fraction(of), (of.value, of.n), css_class=heat_class(of.value))


def heat_class(value: float) -> str:
    """Return the CSS class of a rate, one of six steps."""
    return f"heat-{round(5 * value)}"
