"""`warex run --dry-run`: the grid, what is left of it, and what that may take."""

import textwrap
from collections import Counter
from pathlib import Path

from warex.campaigns.config import Budget, ConditionConfig
from warex.campaigns.folder import past_of
from warex.campaigns.forecast import Expected, Forecast, forecast
from warex.campaigns.options import Options
from warex.campaigns.plan import remaining
from warex.campaigns.run import Planned
from warex.cli.earlier import seen_in
from warex.cli.say import say
from warex.traces import MANIFEST, TrialKey

_WIDTH = 96
_DASH = "—"


def print_dry_run(planned: Planned, out: Path, options: Options) -> None:
    """Print a campaign and run nothing of it."""
    config = planned.config
    trials = [spec.key for spec in planned.trials]
    there = (out / MANIFEST).exists()
    left = remaining(trials, past_of(out)) if there and options.resume else tuple(trials)
    go = left[: options.limit]
    lanes = options.jobs or config.jobs
    models = {agent.name: agent.model for agent in config.agents}
    expected = forecast(go, models, seen_in(out.parent), lanes)
    tasks = list(dict.fromkeys(sorted(key.task for key in trials)))
    counts = (
        _count(len(config.agents), "agent"),
        _count(len(config.conditions), "condition"),
        _count(len(tasks), "task"),
        _count(config.repeats, "repeat"),
    )
    grid = " \N{MULTIPLICATION SIGN} ".join(counts)
    say(f"{config.name}: {grid}, {_count(lanes, 'lane')}, seed {config.seed}\n")
    _print_grid(planned, go, expected)
    say("\n" + textwrap.fill(f"tasks: {', '.join(tasks)}", _WIDTH, break_on_hyphens=False))
    say()
    say(_count(len(trials), "trial"))
    if there and options.resume:
        say(f"{len(left)} of them left in {out}")
    if len(go) < len(left):
        say(f"{len(go)} of them in this go, by --limit")
    say(_sum(expected, len(go)))
    if budget := _budget(config.budget):
        say(f"budget: {budget}")
    if there and not options.resume:
        say(f"{out} holds a run already: give --resume to go on with it, or another --out")


def _print_grid(planned: Planned, go: tuple[TrialKey, ...], expected: Forecast) -> None:
    config = planned.config
    whole = Counter((spec.key.agent, spec.key.condition) for spec in planned.trials)
    now = Counter((key.agent, key.condition) for key in go)
    rows = [("agent", "condition", "is", "trials", "to run", "s each", "$ each", "as in")]
    for agent in config.agents:
        for condition in config.conditions:
            at = (agent.name, condition.name)
            cell = expected.cells.get(at)
            rows.append(
                (
                    *at,
                    _what(condition),
                    str(whole[at]),
                    str(now[at]),
                    f"{cell.seconds:.1f}" if cell else _DASH,
                    f"{cell.usd:.4f}" if cell and cell.usd is not None else _DASH,
                    _source(cell, condition.name),
                )
            )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            text.rjust(width) if 3 <= number <= 6 else text.ljust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        say("  ".join(cells).rstrip())


def _what(condition: ConditionConfig) -> str:
    parts = [condition.scenario or ("clean, once more" if condition.control else "")]
    if condition.intensity is not None:
        parts.append(f"intensity {condition.intensity:g}")
    if condition.frequency is not None:
        parts.append(f"frequency {condition.frequency}")
    if condition.defence is not None:
        parts.append(f"defence {condition.defence.name}")
    return ", ".join(filter(None, parts))


def _source(cell: Expected | None, condition: str) -> str:
    if cell is None:
        return ""
    instead = f" ({cell.condition})" if cell.condition != condition else ""
    return f"{cell.run}{instead}"


def _sum(expected: Forecast, trials: int) -> str:
    """Say what the trials may take, and what nobody knows of them."""
    if trials == 0:
        return "nothing is to be run"
    if expected.unknown == trials:
        return "time and money: no earlier run tells"
    said = f"about {_duration(expected.seconds)} and {expected.usd:.2f} US dollars at list prices"
    if expected.unknown:
        said += f", without {_count(expected.unknown, 'trial')} of which no earlier run tells"
    if unpriced := expected.unpriced - expected.unknown:
        said += f"; the money of {_count(unpriced, 'trial')} is not seen"
    return said


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _budget(budget: Budget) -> str:
    """Say what the campaign may cost; nothing where it has no budget."""
    parts = [
        f"{budget.usd:g} US dollars" if budget.usd is not None else "",
        f"{budget.tokens:,} tokens" if budget.tokens is not None else "",
        f"{budget.minutes:g} minutes" if budget.minutes is not None else "",
    ]
    return ", ".join(filter(None, parts))
