"""Whole campaigns, run as the command line runs them, and when what of them happened."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean

from bench import one_second_agent
from bench.traffic.counted_lanes import all_recorded
from bench.traffic.programs import site
from bench.workspace import HOST, Setting
from warex.campaigns.config.campaign import CampaignConfig
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan, plan
from warex.campaigns.run_campaign import run_campaign
from warex.clock import Clock
from warex.traces import EVENTS, Counted, TrialBegan, find_trials, iter_trace, read_outcome

_SHOP = "https://shop.example"
_CA_DIR = "WAREX_CA_DIR"


@dataclass(frozen=True, slots=True)
class Went:
    """A campaign that is over."""

    run: Path
    wall: float
    """Seconds from the call of ``run_campaign`` until it returned."""
    first: float
    """Seconds until the first trial's proxy was ready."""
    last: float
    """Seconds until its last attempt was over."""


def went(setting: Setting, planned: CampaignPlan, options: RunOptions) -> Went:
    """Run a campaign into a fresh folder, with the CA of this place."""
    run, clock, ends = setting.fresh("campaign") / "run", Clock(), [0.0]
    at = clock.wall()
    with own_ca(setting):
        run_campaign(planned, run, options, report=lambda done: ends.append(clock.now()))
        wall = clock.now()
    first = min(_ready_at(folder) for _, _, folder in find_trials(run)) - at
    return Went(run, wall, first, max(ends))


def all_solved(campaign: Went, trials: int) -> float:
    """Return the mean seconds of the agents' commands.

    Raises RuntimeError where an attempt was void or not solved: it took time that no trial should;
    and Uncounted where its page is missing in its trace.
    """
    outcomes = [read_outcome(folder) for _, _, folder in find_trials(campaign.run)]
    solved = [it for it in outcomes if isinstance(it, Counted) and it.score == 1]
    if not len(outcomes) == len(solved) == trials:
        other = next((it for it in outcomes if it not in solved), None)
        raise RuntimeError(
            f"{len(outcomes)} attempts at {trials} trials, {len(solved)} solved: {other}"
        )
    for key, _, folder in find_trials(campaign.run):
        all_recorded(Counter([f"{_SHOP}/{key.task}"]), folder / EVENTS)
    return fmean(it.latency_s for it in solved)


def _ready_at(attempt: Path) -> float:
    """Return when the attempt's proxy was ready, as Unix time; infinity where it had none."""
    if not (attempt / EVENTS).exists():
        return float("inf")
    ready = next(it for it in iter_trace(attempt / EVENTS) if isinstance(it.event, TrialBegan))
    return datetime.fromisoformat(ready.at).timestamp()


@contextmanager
def own_ca(setting: Setting) -> Iterator[None]:
    """Have WAREX, and whatever it starts, use the CA of this place and not the user's."""
    before = os.environ.get(_CA_DIR)
    os.environ[_CA_DIR] = str(setting.ca.folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CA_DIR]
        else:
            os.environ[_CA_DIR] = before


@contextmanager
def one_second_trials(setting: Setting, number: int) -> Iterator[tuple[CampaignPlan, RunOptions]]:
    """Plan so many trials of a command that gets a page through the proxy and takes a second."""
    with site("bench.traffic.site", *setting.tls) as port:
        config = CampaignConfig.model_validate(
            {
                "name": "one-second",
                "benchmark": {
                    "name": "command",
                    "sites": {_SHOP: f"https://{HOST}:{port}"},
                    "options": {
                        "command": [
                            sys.executable,
                            one_second_agent.__file__,
                            f"{_SHOP}/{{task_id}}",
                        ],
                        "tasks": [f"task-{task}" for task in range(number)],
                    },
                },
                "agents": [{"name": "sleeper", "model": "none"}],
                "traffic": {"insecure": True},
                "conditions": [{"name": "clean"}],
            }
        )
        yield plan(config), RunOptions()
