"""`warex run --dry-run`: the grid, its remaining trials, and their estimated time and cost."""

import textwrap
from collections import Counter
from pathlib import Path

from warex.campaigns.config.campaign import AgentConfig, Budget, ConditionConfig
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan
from warex.campaigns.plan.forecast import CellForecast, Forecast, forecast
from warex.campaigns.plan.grid import remaining
from warex.campaigns.plan.lanes import choose_lanes
from warex.campaigns.plan.lint import lint_warnings
from warex.campaigns.run.folder import read_history
from warex.cli.campaigns.past_runs import past_trials
from warex.cli.output import console, echo
from warex.cli.progress.tracker import format_duration
from warex.report.terminal.grid import Grid, Heading
from warex.text.english import count_noun
from warex.traces import MANIFEST, TrialKey

_WIDTH = 80
_DASH = "—"
_HEADS = (
    Heading("agent", is_text=True),
    Heading("condition", is_text=True),
    Heading("scenario", is_text=True),
    *map(Heading, ("trials", "to run", "s each", "$ each")),
    Heading("estimated from", is_text=True),
)


def print_dry_run(planned: CampaignPlan, out: Path, options: RunOptions) -> None:
    """Print a campaign without running it."""
    config = planned.config
    trials = [spec.key for spec in planned.trials]
    exists = (out / MANIFEST).exists()
    left = remaining(trials, read_history(out)) if exists and options.resume else tuple(trials)
    go = left[: options.limit]
    at_once = choose_lanes(planned, options)
    # The number of a cluster's CPUs is not known here.
    lanes = at_once.count or config.jobs
    models = {agent.name: agent.model for agent in config.agents}
    expected = forecast(go, models, past_trials(out.parent, config.longest_hold_s), lanes)
    tasks = list(dict.fromkeys(sorted(key.task for key in trials)))
    counts = (
        count_noun(len(config.agents), "agent"),
        count_noun(len(config.conditions), "condition"),
        count_noun(len(tasks), "task"),
        count_noun(config.repeats, "repeat"),
    )
    grid = " \N{MULTIPLICATION SIGN} ".join(counts)
    echo(f"{config.name}: {grid}, {count_noun(lanes, 'lane')}, seed {config.seed}\n")
    if at_once.why is not None:
        echo(textwrap.fill(at_once.why, _WIDTH, break_on_hyphens=False) + "\n")
    _print_grid(planned, go, expected)
    echo("\n" + textwrap.fill(f"tasks: {', '.join(tasks)}", _WIDTH, break_on_hyphens=False))
    echo()
    echo(count_noun(len(trials), "trial"))
    if exists and options.resume:
        echo(f"{len(left)} of them left in {out}")
    if len(go) < len(left):
        echo(f"{len(go)} of them in this go, by --limit")
    echo(_estimate_text(expected, len(go)))
    if budget := _budget(config.budget):
        echo(f"budget: {budget}")
    for warning in lint_warnings(planned):
        echo("\n" + textwrap.fill(warning, _WIDTH, break_on_hyphens=False))
    if exists and not options.resume:
        echo(f"{out} holds a run already: give --resume to go on with it, or another --out")


def _print_grid(planned: CampaignPlan, go: tuple[TrialKey, ...], expected: Forecast) -> None:
    config = planned.config
    trials = Counter((spec.key.agent, spec.key.condition) for spec in planned.trials)
    now = Counter((key.agent, key.condition) for key in go)
    rows: list[tuple[str, ...]] = []
    for agent in config.agents:
        for condition in config.conditions:
            at = (agent.name, condition.name)
            cell = expected.cells.get(at)
            rows.append(
                (
                    *at,
                    _condition_label(condition),
                    str(trials[at]),
                    str(now[at]),
                    f"{cell.seconds:.1f}" if cell else _DASH,
                    _cost_text(agent, cell),
                    _source(cell, condition.name),
                )
            )
    # The last column is empty without an earlier run.
    shown = len(_HEADS) if any(row[-1] for row in rows) else len(_HEADS) - 1
    console().print(Grid(_HEADS[:shown], tuple(row[:shown] for row in rows), keys=2))


def _condition_label(condition: ConditionConfig) -> str:
    parts = [condition.scenario or ("clean, once more" if condition.control else "")]
    if condition.intensity is not None:
        parts.append(f"intensity {condition.intensity:g}")
    if condition.frequency is not None:
        parts.append(f"frequency {condition.frequency}")
    if condition.first is not None:
        parts.append(f"first {condition.first}")
    if condition.defence is not None:
        parts.append(f"defence {condition.defence.name}")
    return ", ".join(filter(None, parts))


def _cost_text(agent: AgentConfig, cell: CellForecast | None) -> str:
    usd = 0.0 if agent.spec.is_mock else cell.usd if cell else None
    return _DASH if usd is None else f"{usd:.4f}"


def _source(cell: CellForecast | None, condition: str) -> str:
    if cell is None:
        return ""
    instead = f" ({cell.condition})" if cell.condition != condition else ""
    return f"{cell.run}{instead}"


def _estimate_text(expected: Forecast, trials: int) -> str:
    """Return the trials' estimated time and cost, and what is unknown."""
    if trials == 0:
        return "nothing is to be run"
    free = "the agents cost nothing: WAREX plays their models"
    if expected.unknown == trials:
        if expected.free == trials:
            return f"time: unknown without an earlier run; {free}"
        estimate = "time and money: unknown without an earlier run"
    else:
        money = f"{expected.usd:.2f} US dollars at list prices"
        estimate = f"about {format_duration(expected.seconds)} and {money}"
        if expected.unknown:
            estimate += f", without {count_noun(expected.unknown, 'trial')} that no earlier run had"
        if expected.unpriced:
            estimate += f"; the money of {count_noun(expected.unpriced, 'trial')} is not seen"
        if expected.free == trials:
            return f"{estimate}; {free}"
    if expected.free:
        estimate += f"; {count_noun(expected.free, 'trial')} cost nothing: WAREX plays their models"
    return estimate


def _budget(budget: Budget) -> str:
    """Return the campaign's budget in words; empty without one."""
    parts = [
        f"{budget.usd:g} US dollars" if budget.usd is not None else "",
        count_noun(budget.tokens, "token") if budget.tokens is not None else "",
        f"{budget.minutes:g} minutes" if budget.minutes is not None else "",
    ]
    return ", ".join(filter(None, parts))
