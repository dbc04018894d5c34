"""All that a campaign names is found and checked before anything runs."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Unpack

import pytest

from tests.campaigns.conftest import TASK
from warex.campaigns import run_campaign as campaigns
from warex.campaigns.config.campaign import (
    Budget,
    CampaignConfig,
)
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan, plan
from warex.campaigns.run.schedule import TrialQueue
from warex.campaigns.run.spending import Spending
from warex.campaigns.run_campaign import run_campaign
from warex.errors import InputError, MachineError
from warex.traces import (
    Counted,
    Outcome,
    TrialKey,
    read_manifest,
    write_outcome,
)
from warex.traces.llm_cache import LLM_CACHE
from warex.traffic import TrafficKeywords, TrafficOptions
from warex.trials import TrialContext, TrialSpec


@pytest.fixture
def small(demo: CampaignConfig) -> CampaignPlan:
    changes = {
        "tasks": {"names": [TASK]},
        "agents": [{"name": "a", "model": "m", "base_url": "http://h/v1"}],
    }
    return plan(CampaignConfig.model_validate(demo.model_dump() | changes))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[TrialKey]:
    """Let a campaign run on a machine with a browser, up to its first trial; note what was run."""
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\necho Chromium 1.2.3\n")
    browser.chmod(0o755)
    monkeypatch.setenv("WAREX_CHROMIUM", str(browser))
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    noted: list[TrialKey] = []

    def run_trial(spec: TrialSpec, attempt: int, folder: Path, context: TrialContext) -> Outcome:
        noted.append(spec.key)
        outcome = Counted(ending="answered", score=1.0, latency_s=1)
        write_outcome(folder, outcome)
        return outcome

    monkeypatch.setattr(campaigns, "run_trial", run_trial)
    return noted


def with_traffic(planned: CampaignPlan, **more: Unpack[TrafficKeywords]) -> CampaignPlan:
    return replace(planned, config=planned.config.with_traffic(**more))


@pytest.mark.wire
def test_the_manifest_freezes_everything_that_trials_use(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path
) -> None:
    run_campaign(with_traffic(small, record="concerned"), tmp_path / "run", RunOptions())

    manifest = read_manifest(tmp_path / "run" / "manifest.json")
    assert len(ran) == 5
    assert manifest.versions["browser"] == "Chromium 1.2.3"
    assert manifest.seed == small.config.seed
    assert manifest.vocabularies.keys() == {"testbed"}
    # This process is pytest's, so what was typed for it repeats no run.
    assert manifest.command == []
    scenarios = manifest.campaign["scenarios"]
    assert isinstance(scenarios, dict)
    assert scenarios.keys() == {"network-error", "server-error", "javascript-failure"}
    traffic = manifest.campaign["traffic"]
    assert isinstance(traffic, dict)
    reported = {
        "record": "concerned",
        "insecure": False,
        "upstream": None,
        "maps": [],
        "pass_through": [],
        "llm_hosts": [],
        "arm": None,
        "isolation": "namespace",
    }
    assert {name: traffic[name] for name in reported} == reported
    assert traffic.keys() == {*(field.name for field in fields(TrafficOptions)), "isolation"}


@pytest.mark.wire
def test_other_traffic_is_another_configuration(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path
) -> None:
    run_campaign(small, tmp_path / "run", RunOptions(jobs=1))

    run_campaign(small, tmp_path / "run", RunOptions(resume=True, jobs=2))
    with pytest.raises(InputError, match=r"\(traffic differs\)"):
        run_campaign(
            with_traffic(small, record="concerned"), tmp_path / "run", RunOptions(resume=True)
        )


@pytest.mark.wire
def test_the_trials_of_a_run_share_a_key_that_is_not_in_its_folder(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str] = []

    def run_trial(spec: TrialSpec, attempt: int, folder: Path, context: TrialContext) -> Outcome:
        keys.append(context.redaction_key)
        write_outcome(folder, outcome := Counted(ending="answered", score=1.0, latency_s=1))
        return outcome

    monkeypatch.setattr(campaigns, "run_trial", run_trial)
    run = tmp_path / "run"
    run_campaign(small, run, RunOptions(jobs=1, limit=2))
    run_campaign(small, run, RunOptions(jobs=1, resume=True))

    (key,) = set(keys)
    assert len(bytes.fromhex(key)) == 32
    assert not [path for path in run.rglob("*") if path.is_file() and key in path.read_text()]


@pytest.mark.wire
def test_a_defence_is_frozen_with_its_text_and_the_cache_is_made(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path
) -> None:
    conditions = [{"name": "clean"}, {"name": "told", "defence": "refresh"}]
    fields = small.config.model_dump() | {"conditions": conditions, "llm_cache": True}
    planned = plan(CampaignConfig.model_validate(fields))

    run_campaign(planned, tmp_path / "run", RunOptions(jobs=2))

    frozen = read_manifest(tmp_path / "run" / "manifest.json").campaign["conditions"]
    assert "Refresh the page when you encounter a transient error" in str(frozen)
    assert [key.condition for key in ran] == ["clean", "told"]
    assert (tmp_path / "run" / LLM_CACHE).is_dir()


@pytest.mark.wire
def test_a_budget_stops_it_and_a_larger_one_goes_on(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns, "attempt_spending", lambda folder, prices: Spending(tokens=10))
    reported: list[str] = []

    def go(tokens: int, *, resume: bool) -> int:
        config = small.config.model_copy(update={"budget": Budget(tokens=tokens)})
        before = len(ran)
        options = RunOptions(jobs=1, resume=resume)
        run_campaign(
            replace(small, config=config), tmp_path / "run", options, notice=reported.append
        )
        return len(ran) - before

    assert go(20, resume=False) == 2
    (sentence,) = reported
    assert sentence.startswith("the budget of 20 tokens is used up: 20 are spent. Trials left: 3.")
    assert go(20, resume=True) == 0
    assert go(40, resume=True) == 2
    assert go(1000, resume=True) == 1


@pytest.mark.wire
def test_a_model_that_warex_plays_uses_up_no_money(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = Spending(usd=10, unpriced=frozenset({"house-model"}))
    monkeypatch.setattr(campaigns, "attempt_spending", lambda folder, prices: spent)
    played = [
        agent.model_copy(update={"model": "scripted:giveup"}) for agent in small.config.agents
    ]
    config = small.config.model_copy(update={"budget": Budget(usd=1), "agents": tuple(played)})
    reported: list[str] = []

    planned = replace(small, config=config)
    run_campaign(planned, tmp_path / "run", RunOptions(jobs=1), notice=reported.append)

    assert len(ran) == len(small.trials)
    assert reported == []


@pytest.mark.wire
def test_a_limit_runs_the_first_trials_only(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path
) -> None:
    reported: list[int] = []

    run_campaign(small, tmp_path / "run", RunOptions(limit=2, jobs=1), began=reported.append)

    assert reported == [2]
    assert ran == [spec.key for spec in small.trials[:2]]


@pytest.mark.wire
def test_a_trial_that_is_lost_again_and_again_is_reported_and_left(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(schedule: TrialQueue, *_: object, **__: object) -> None:
        while (turn := schedule.take(0)) is not None:
            schedule.lost(turn)

    monkeypatch.setattr(campaigns, "run_on_ray", lose)
    reported: list[str] = []

    run_campaign(small, tmp_path / "run", RunOptions(ray="x", limit=1), notice=reported.append)

    key = small.trials[0].key
    assert reported == [
        f"each attempt at {TASK} of a under {key.condition}, repeat 1, was lost with what ran it;"
        " it may be too much for it. --resume tries again"
    ]


def keyless(planned: CampaignPlan) -> CampaignPlan:
    agents = [replace(spec.agent, base_url=None) for spec in planned.trials]
    trials = zip(planned.trials, agents, strict=True)
    return replace(planned, trials=tuple(replace(spec, agent=agent) for spec, agent in trials))


@pytest.mark.wire
def test_a_missing_key_is_reported_before_a_folder_is_made(
    small: CampaignPlan, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    planned, run = keyless(small), tmp_path / "run"

    for options in (RunOptions(), RunOptions(resume=True)):
        with pytest.raises(MachineError, match="key is not set: set OPENAI_API_KEY, or give a bas"):
            run_campaign(planned, run, options)
    assert not run.exists()

    # A server of one's own may need none.
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h/v1")
    run_campaign(planned, run, RunOptions())
    monkeypatch.delenv("OPENAI_BASE_URL")
    # Nothing is left that would ask.
    run_campaign(planned, run, RunOptions(resume=True))

    assert len(ran) == len(planned.trials)


def test_a_browser_that_does_not_run_is_a_sentence(
    small: CampaignPlan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rubbish = tmp_path / "chromium"
    rubbish.write_bytes(b"\x00rubbish")
    rubbish.chmod(0o755)
    monkeypatch.setenv("WAREX_CHROMIUM", str(rubbish))

    with pytest.raises(MachineError, match="set WAREX_CHROMIUM to one that runs"):
        run_campaign(small, tmp_path / "run", RunOptions())
