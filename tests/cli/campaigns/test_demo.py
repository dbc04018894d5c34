from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.analysis.stats.clustered import sign_flip_p
from warex.analysis.stats.proportions import holm
from warex.campaigns.config.campaign import load_campaign
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan, plan
from warex.cli.campaigns import live_display


def test_no_run_of_the_demo_is_written_over(
    warex: Warex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[str] = []
    typed: list[tuple[str, ...]] = []

    def run_and_report(planned: CampaignPlan, out: Path, options: RunOptions) -> None:
        places.append(str(out))
        typed.append(options.command)
        out.mkdir(parents=True)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(live_display, "run_and_report", run_and_report)
    for _ in range(3):
        assert warex("demo").code == 0
    warex("demo", "--out", "mine")

    assert places == ["runs/demo", "runs/demo-2", "runs/demo-3", "mine"]
    assert typed == [("warex", "demo")] * 3 + [("warex", "demo", "--out", "mine")]


def test_the_demo_says_what_its_numbers_are_not(
    warex: Warex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_display, "run_and_report", lambda planned, out, options: None)
    output = warex("demo", "--out", "run").out

    assert "It tests WAREX, not\nan LLM." in output
    assert "capped at 1 s here; the paper's faults hold for 10 s" in output


def test_the_demo_has_enough_tasks_to_show_a_drop() -> None:
    demo = plan(load_campaign("demo"))

    tasks = {spec.key.task for spec in demo.trials}
    faults = {spec.key.condition for spec in demo.trials if spec.scenario is not None}
    least = sign_flip_p([-1] * len(tasks))
    assert holm([least] * len(faults))[0] < 0.05
    assert len({site for task in tasks for site in demo.benchmark.sites(task)}) >= 6
