import re
from pathlib import Path

import pytest

from tests.cli.campaigns.test_past_runs import run
from tests.cli.conftest import Warex
from warex.campaigns.config.campaign import load_campaign
from warex.campaigns.plan.campaign_plan import plan
from warex.campaigns.plan.forecast import OVERHEAD_S
from warex.traces import Counted, Void, attempt_dir, write_outcome

CAMPAIGN = """
name = "mine"
tasks = { sample = 3 }
[budget]
usd = 2.5
[[agents]]
name = "mine"
model = "gpt-4o"
[[conditions]]
name = "no-proxy"
[[conditions]]
name = "clean"
[[conditions]]
name = "late"
scenario = "paper/network-error"
intensity = 0.5
"""
TRIAL = {
    "benchmark": "testbed",
    "agent": "mine",
    "condition": "clean",
    "latency_s": 60 - OVERHEAD_S,
    "cost_usd": 0.25,
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(CAMPAIGN)


def test_the_grid_is_reported_and_nothing_runs(warex: Warex, tmp_path: Path) -> None:
    result = warex("run", "c.toml", "--dry-run")

    assert result.code == 0
    assert "1 agent × 3 conditions × 3 tasks × 1 repeat, 2 lanes, seed 1" in result.out  # noqa: RUF001
    assert re.search(r"^mine +late +paper/network-error, intensity 0\.5 +3 +3 ", result.out, re.M)
    assert re.search(r"^9 trials$", result.out, re.M)
    assert "time and money: unknown without an earlier run" in result.out
    assert "budget: 2.5 US dollars" in result.out
    assert not (tmp_path / "runs").exists()


def test_time_and_money_are_those_of_an_earlier_run_which_is_named(
    warex: Warex, tmp_path: Path
) -> None:
    run(tmp_path / "runs" / "before", TRIAL)

    output = warex("run", "c.toml", "--dry-run", "--jobs", "1").out

    assert re.search(r"^mine +clean +3 +3 +60\.0 +0\.2500 +before$", output, re.M)
    assert re.search(r"^mine +late .* before \(clean\)$", output, re.M)
    assert "about 9 minutes and 2.25 US dollars at list prices" in output


def test_what_warex_plays_itself_costs_nothing(warex: Warex, tmp_path: Path) -> None:
    scripted = CAMPAIGN.replace('"gpt-4o"', '"scripted:patient"')
    (tmp_path / "c.toml").write_text(scripted)

    unknown = warex("run", "c.toml", "--dry-run").out
    # Its trials are recorded at the price of a model that was not asked.
    run(tmp_path / "runs" / "before", TRIAL, model="scripted:patient")
    known = warex("run", "c.toml", "--dry-run", "--jobs", "1").out

    nothing = "; the agents cost nothing: WAREX plays their models"
    assert "time: unknown without an earlier run" + nothing in unknown
    assert re.search(r"^mine +clean +3 +3 +\S+ +0\.0000$", unknown, re.M)
    assert "about 9 minutes and 0.00 US dollars at list prices" + nothing in known
    assert re.search(r"^mine +clean +3 +3 +60\.0 +0\.0000 +before$", known, re.M)


def test_a_limit_is_counted(warex: Warex, tmp_path: Path) -> None:
    run(tmp_path / "runs" / "before", TRIAL)

    output = warex("run", "c.toml", "--dry-run", "--limit", "2", "--jobs", "2").out

    assert "2 of them in this go, by --limit" in output
    assert "about 60 s and 0.50 US dollars" in output


def test_what_is_left_is_reported_with_resume(warex: Warex, tmp_path: Path) -> None:
    out = run(tmp_path / "runs" / "mine")
    first, second = (spec.key for spec in plan(load_campaign("c.toml")).trials[:2])
    write_outcome(attempt_dir(out, first, 1), Counted(ending="answered", score=1, latency_s=1))
    write_outcome(attempt_dir(out, second, 1), Void(reason="r"))

    assert "8 of them left in runs/mine" in warex("run", "c.toml", "--dry-run", "--resume").out
    assert "runs/mine holds a run already: give --resume" in warex("run", "c.toml", "--dry-run").out
