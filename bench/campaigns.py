"""Whole campaigns, run as the command line runs them, and their timings."""

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
from bench.traffic.counted_lanes import check_recorded
from bench.traffic.programs import site
from bench.workspace import HOST, Workspace
from warex.campaigns.config.campaign import CampaignConfig
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan, plan
from warex.campaigns.run_campaign import run_campaign
from warex.clock import Clock
from warex.traces import EVENTS, Counted, TrialBegan, find_trials, iter_trace, read_outcome

_SHOP = "https://shop.example"
_CA_DIR = "WAREX_CA_DIR"


@dataclass(frozen=True, slots=True)
class FinishedCampaign:
    """A finished campaign and its timings."""

    run: Path
    wall: float
    """Seconds from the call of ``run_campaign`` until it returned."""
    first: float
    """Seconds until the first trial's proxy was ready."""
    last: float
    """Seconds until its last attempt ended."""


def run_timed(workspace: Workspace, planned: CampaignPlan, options: RunOptions) -> FinishedCampaign:
    """Run a campaign into a new folder, with the workspace's CA."""
    run, clock, ends = workspace.fresh("campaign") / "run", Clock(), [0.0]
    at = clock.wall()
    with use_workspace_ca(workspace):
        run_campaign(planned, run, options, report=lambda done: ends.append(clock.now()))
        wall = clock.now()
    first = min(_ready_at(folder) for _, _, folder in find_trials(run)) - at
    return FinishedCampaign(run, wall, first, max(ends))


def mean_agent_seconds(campaign: FinishedCampaign, trials: int) -> float:
    """Return the mean seconds of the agents' commands.

    Raises RuntimeError if an attempt was void or did not solve its task, since its time is not
    comparable, and Unrecorded if a trace lacks the page.
    """
    outcomes = [read_outcome(folder) for _, _, folder in find_trials(campaign.run)]
    solved = [it for it in outcomes if isinstance(it, Counted) and it.score == 1]
    if not len(outcomes) == len(solved) == trials:
        other = next((it for it in outcomes if it not in solved), None)
        raise RuntimeError(
            f"{len(outcomes)} attempts at {trials} trials, {len(solved)} solved: {other}"
        )
    for key, _, folder in find_trials(campaign.run):
        check_recorded(Counter([f"{_SHOP}/{key.task}"]), folder / EVENTS)
    return fmean(it.latency_s for it in solved)


def _ready_at(attempt: Path) -> float:
    """Return when the attempt's proxy was ready, as Unix time; infinity if it had none."""
    if not (attempt / EVENTS).exists():
        return float("inf")
    ready = next(it for it in iter_trace(attempt / EVENTS) if isinstance(it.event, TrialBegan))
    return datetime.fromisoformat(ready.at).timestamp()


@contextmanager
def use_workspace_ca(workspace: Workspace) -> Iterator[None]:
    """Make WAREX and its child processes use the workspace's CA instead of the user's."""
    before = os.environ.get(_CA_DIR)
    os.environ[_CA_DIR] = str(workspace.ca.folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CA_DIR]
        else:
            os.environ[_CA_DIR] = before


@contextmanager
def one_second_trials(
    workspace: Workspace, number: int
) -> Iterator[tuple[CampaignPlan, RunOptions]]:
    """Plan trials of a command that fetches a page through the proxy and takes one second."""
    with site("bench.traffic.site", *workspace.tls) as port:
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
