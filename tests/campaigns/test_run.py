"""All that a campaign names is found and checked before anything runs."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Unpack

import msgspec
import pytest

from warex.campaigns import run as campaigns
from warex.campaigns.config import (
    Budget,
    CampaignConfig,
    built_in_names,
    load_campaign,
)
from warex.campaigns.options import Options
from warex.campaigns.run import Planned, plan, plan_replay, run_campaign
from warex.campaigns.schedule import Schedule
from warex.campaigns.spent import Spent
from warex.clock import Clock
from warex.errors import CampaignError, InputError, MachineError, ScenarioError, TraceError
from warex.llm.defences import DEFENCES
from warex.scenarios.load import load_preset
from warex.traces import (
    Counted,
    FaultPlanned,
    Outcome,
    TraceWriter,
    TrialBegan,
    TrialKey,
    read_manifest,
    write_outcome,
)
from warex.traces.llm_cache import LLM_CACHE
from warex.traffic import TrafficKeywords, TrafficOptions
from warex.trials import Setting, TrialSpec

TASK = "calendar-friday-evening"


@pytest.fixture
def demo() -> CampaignConfig:
    return load_campaign("demo")


def past_trial(folder: Path, **more: object) -> Path:
    """Write the trace of a trial whose second document was hit."""
    began = {
        "benchmark": "testbed",
        "agent": "giveup",
        "condition": "server-error",
        "task": TASK,
        "repeat": 3,
        "seed": 99,
        "arm": "first_page",
        "scenario": load_preset("paper/server-error").model_dump(mode="json", exclude_none=True),
    }
    planned = FaultPlanned(
        injection="i1",
        exchange="x1",
        rule="server-error",
        fault={"kind": "http_error"},
        stage="request",
        scope="",
        ordinal=2,
        effects=("reply",),
        url="https://calendar.warex.test/",
    )
    with TraceWriter(folder / "events.jsonl", Clock()) as writer:
        writer.write(msgspec.convert(began | more, TrialBegan))
        writer.write(planned)
    return folder


def test_every_trial_of_the_grid_is_planned(demo: CampaignConfig) -> None:
    planned = plan(demo)

    assert len(planned.trials) == 8 * 5 * 2
    for spec in planned.trials:
        assert spec.proxied == (spec.key.condition != "no-proxy")
        assert (spec.scenario is None) == (spec.key.condition in ("no-proxy", "clean"))
        assert spec.agent.model == f"scripted:{spec.key.agent}"


@pytest.mark.parametrize("name", built_in_names())
def test_every_built_in_campaign_can_be_planned(name: str) -> None:
    config = load_campaign(name)

    trials = plan(config).trials

    assert len(trials) % (len(config.agents) * len(config.conditions) * config.repeats) == 0


def test_a_condition_brings_its_defence_and_may_share_answers(demo: CampaignConfig) -> None:
    conditions = [
        {"name": "no-proxy"},
        {"name": "clean"},
        {"name": "again", "control": True},
        {"name": "told", "defence": "refresh"},
        {"name": "down", "scenario": "paper/server-error", "defence": "refresh"},
    ]
    changes = {"conditions": conditions, "llm_cache": True}
    config = CampaignConfig.model_validate(demo.model_dump() | changes)

    specs = {spec.key.condition: spec for spec in plan(config).trials}

    assert {name for name, spec in specs.items() if spec.defence} == {"told", "down"}
    assert {name for name, spec in specs.items() if spec.scenario} == {"down"}
    assert {name for name, spec in specs.items() if spec.cached} == {"clean", "told", "down"}
    assert {name for name, spec in specs.items() if not spec.proxied} == {"no-proxy"}
    without = CampaignConfig.model_validate(demo.model_dump() | changes | {"llm_cache": False})
    assert not any(spec.cached for spec in plan(without).trials)


def test_agents_and_conditions_are_paired_by_their_seeds(demo: CampaignConfig) -> None:
    seeds: dict[str, set[int]] = {}
    for spec in plan(demo).trials:
        seeds.setdefault(spec.key.task, set()).add(spec.seed)

    assert len(seeds) == 8
    assert all(len(of_task) == 1 for of_task in seeds.values())
    assert len(set.union(*seeds.values())) == 8


def test_no_hold_is_longer_than_the_campaign_allows(demo: CampaignConfig) -> None:
    delays = [
        getattr(rule.fault, "delay", 0)
        for spec in plan(demo).trials
        if spec.scenario
        for rule in spec.scenario.rules
    ]

    assert max(delays) == 1


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"benchmark": "tesbed"}, CampaignError, "no benchmark 'tesbed'"),
        ({"tasks": {"names": ["x"]}}, CampaignError, "no task 'x'"),
        ({"conditions": [{"name": "x", "scenario": "none"}]}, ScenarioError, "no scenario 'none'"),
        (
            {"agents": [{"name": "a", "model": "scripted:pateint"}]},
            CampaignError,
            "agent 'a': there is no scripted model 'pateint'; did you mean 'patient'",
        ),
        (
            {"conditions": [{"name": "x", "scenario": "paper/server-error", "intensity": 2}]},
            ScenarioError,
            "condition 'x': its rule 'server-error' cannot hit 2 times as hard: the size of"
            " http_error is its delay, which is 0",
        ),
        ({"agents": [{"name": "é" * 80, "model": "m"}]}, InputError, "Give it a shorter one"),
    ],
)
def test_what_does_not_exist_is_told_before_anything_runs(
    demo: CampaignConfig, change: dict[str, object], error: type[InputError], says: str
) -> None:
    config = CampaignConfig.model_validate(demo.model_dump() | change)

    with pytest.raises(error, match=says):
        plan(config)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (("testbed", "tesbed"), CampaignError, "there is no benchmark 'tesbed'"),
        (("goes", "nope"), CampaignError, "tasks.names: there is no task 'nope'"),
        (("paper/server-error", "none"), ScenarioError, "condition 'x': there is no scenario"),
        (("agent-1", "é" * 80), InputError, "The name 'é"),
    ],
)
def test_what_does_not_exist_is_told_with_the_campaigns_file(
    tmp_path: Path, change: tuple[str, str], error: type[InputError], says: str
) -> None:
    text = f"""
        name = "c"
        benchmark = "testbed"
        tasks = {{ names = ["{"goes" if "goes" in change else TASK}"] }}
        agents = [{{ name = "agent-1", model = "m" }}]
        conditions = [{{ name = "x", scenario = "paper/server-error" }}]
    """
    path = tmp_path / "c.toml"
    path.write_text(text.replace(*change))

    with pytest.raises(InputError) as caught:
        plan(load_campaign(str(path)))

    assert type(caught.value) is error
    assert str(caught.value).startswith(f"{path}: {says}")


def test_a_replay_is_the_same_task_at_the_same_places_for_each_agent(
    demo: CampaignConfig, tmp_path: Path
) -> None:
    planned = plan_replay(demo, past_trial(tmp_path))

    assert [spec.key.agent for spec in planned.trials] == ["giveup", "patient"]
    for spec in planned.trials:
        assert (spec.key.task, spec.key.repeat, spec.seed) == (TASK, 1, 99)
        assert spec.key.condition == "replay of giveup server-error"
        assert spec.schedule == frozenset({(0, "server-error", "", 2)})
        assert spec.arm == "first_page"
        assert spec.replay_of == str(tmp_path)
    assert planned.config.name == "demo-replay"
    assert planned.config.tasks.names == (TASK,)


def test_a_replay_brings_its_trials_defence(demo: CampaignConfig, tmp_path: Path) -> None:
    planned = plan_replay(demo, past_trial(tmp_path, defence=DEFENCES[0].model_dump()))

    assert {spec.defence for spec in planned.trials} == {DEFENCES[0]}
    assert planned.config.conditions[0].defence == DEFENCES[0]


def test_a_replay_of_a_replay_has_a_name_too(demo: CampaignConfig, tmp_path: Path) -> None:
    trial = past_trial(tmp_path, condition="replay of giveup " + "x" * 60)

    assert len(plan_replay(demo, trial).config.conditions[0].name) <= 80


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ({"scenario": None}, TraceError, "made without a scenario"),
        ({"benchmark": "real"}, CampaignError, "is of the benchmark 'real'; that of demo is"),
        ({"task": "gone"}, CampaignError, "is of the task 'gone', which testbed lacks"),
    ],
)
def test_what_cannot_be_replayed_is_a_sentence(
    demo: CampaignConfig,
    tmp_path: Path,
    more: dict[str, object],
    error: type[InputError],
    says: str,
) -> None:
    with pytest.raises(error, match=says):
        plan_replay(demo, past_trial(tmp_path, **more))


OF_COMMAND = {
    "benchmark": {"name": "command", "options": {"command": "no-such-one", "tasks": [TASK]}},
    "tasks": {"all": True},
}


def test_what_cannot_run_is_told_before_a_replay_too(demo: CampaignConfig, tmp_path: Path) -> None:
    config = CampaignConfig.model_validate(demo.model_dump() | OF_COMMAND)

    with pytest.raises(CampaignError, match="'no-such-one' is no program that runs"):
        plan_replay(config, past_trial(tmp_path, benchmark="command"))


def test_a_scripted_model_that_knows_no_task_is_told_before_anything_runs(
    demo: CampaignConfig,
) -> None:
    of_command = {"name": "command", "options": {"command": "true", "tasks": [TASK]}}
    change = OF_COMMAND | {"benchmark": of_command, "conditions": [{"name": "clean"}]}

    with pytest.raises(CampaignError, match=r"scripted:… know no task of the benchmark 'command'"):
        plan(CampaignConfig.model_validate(demo.model_dump() | change))


@pytest.fixture
def small(demo: CampaignConfig) -> Planned:
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

    def run_trial(spec: TrialSpec, attempt: int, folder: Path, setting: Setting) -> Outcome:
        noted.append(spec.key)
        outcome = Counted(ending="answered", score=1.0, latency_s=1)
        write_outcome(folder, outcome)
        return outcome

    monkeypatch.setattr(campaigns, "run_trial", run_trial)
    return noted


def with_traffic(planned: Planned, **more: Unpack[TrafficKeywords]) -> Planned:
    return replace(planned, config=planned.config.with_traffic(**more))


@pytest.mark.wire
def test_the_manifest_freezes_all_that_trials_met(
    small: Planned, ran: list[TrialKey], tmp_path: Path
) -> None:
    run_campaign(with_traffic(small, record="concerned"), tmp_path / "run", Options())

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
    told = {
        "record": "concerned",
        "insecure": False,
        "upstream": None,
        "maps": [],
        "pass_through": [],
        "llm_hosts": [],
        "arm": None,
        "isolation": "namespace",
    }
    assert {name: traffic[name] for name in told} == told
    assert traffic.keys() == {*(field.name for field in fields(TrafficOptions)), "isolation"}


@pytest.mark.wire
def test_other_traffic_is_another_configuration(
    small: Planned, ran: list[TrialKey], tmp_path: Path
) -> None:
    run_campaign(small, tmp_path / "run", Options(jobs=1))

    run_campaign(small, tmp_path / "run", Options(resume=True, jobs=2))
    with pytest.raises(InputError, match=r"\(traffic differ\)"):
        run_campaign(
            with_traffic(small, record="concerned"), tmp_path / "run", Options(resume=True)
        )


@pytest.mark.wire
def test_a_defence_is_frozen_with_its_text_and_the_cache_is_made(
    small: Planned, ran: list[TrialKey], tmp_path: Path
) -> None:
    conditions = [{"name": "clean"}, {"name": "told", "defence": "refresh"}]
    given = small.config.model_dump() | {"conditions": conditions, "llm_cache": True}
    planned = plan(CampaignConfig.model_validate(given))

    run_campaign(planned, tmp_path / "run", Options(jobs=2))

    frozen = read_manifest(tmp_path / "run" / "manifest.json").campaign["conditions"]
    assert "Refresh the page when you encounter a transient error" in str(frozen)
    assert [key.condition for key in ran] == ["clean", "told"]
    assert (tmp_path / "run" / LLM_CACHE).is_dir()


@pytest.mark.wire
def test_a_budget_stops_it_and_a_larger_one_goes_on(
    small: Planned, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns, "spent_in", lambda folder, prices: Spent(tokens=10))
    told: list[str] = []

    def go(tokens: int, *, resume: bool) -> int:
        config = small.config.model_copy(update={"budget": Budget(tokens=tokens)})
        before = len(ran)
        options = Options(jobs=1, resume=resume)
        run_campaign(replace(small, config=config), tmp_path / "run", options, notice=told.append)
        return len(ran) - before

    assert go(20, resume=False) == 2
    (sentence,) = told
    assert sentence.startswith("the budget of 20 tokens is used up: 20 are spent. Trials left: 3.")
    assert go(20, resume=True) == 0
    assert go(40, resume=True) == 2
    assert go(1000, resume=True) == 1


@pytest.mark.wire
def test_a_model_that_warex_plays_uses_up_no_money(
    small: Planned, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = Spent(usd=10, unpriced=frozenset({"house-model"}))
    monkeypatch.setattr(campaigns, "spent_in", lambda folder, prices: spent)
    played = [
        agent.model_copy(update={"model": "scripted:giveup"}) for agent in small.config.agents
    ]
    config = small.config.model_copy(update={"budget": Budget(usd=1), "agents": tuple(played)})
    told: list[str] = []

    planned = replace(small, config=config)
    run_campaign(planned, tmp_path / "run", Options(jobs=1), notice=told.append)

    assert len(ran) == len(small.trials)
    assert told == []


@pytest.mark.wire
def test_a_limit_runs_the_first_trials_only(
    small: Planned, ran: list[TrialKey], tmp_path: Path
) -> None:
    told: list[int] = []

    run_campaign(small, tmp_path / "run", Options(limit=2, jobs=1), began=told.append)

    assert told == [2]
    assert ran == [spec.key for spec in small.trials[:2]]


@pytest.mark.wire
def test_a_trial_that_is_lost_again_and_again_is_told_and_left(
    small: Planned, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(schedule: Schedule, *_: object, **__: object) -> None:
        while (turn := schedule.take(0)) is not None:
            schedule.lost(turn)

    monkeypatch.setattr(campaigns, "run_on_ray", lose)
    told: list[str] = []

    run_campaign(small, tmp_path / "run", Options(ray="x", limit=1), notice=told.append)

    key = small.trials[0].key
    assert told == [
        f"each attempt at {TASK} of a under {key.condition}, repeat 1, was lost with what ran it;"
        " it may be too much for it. --resume tries again"
    ]


def keyless(planned: Planned) -> Planned:
    agents = [replace(spec.agent, base_url=None) for spec in planned.trials]
    trials = zip(planned.trials, agents, strict=True)
    return replace(planned, trials=tuple(replace(spec, agent=agent) for spec, agent in trials))


@pytest.mark.wire
def test_a_key_that_nobody_set_is_told_before_the_first_trial_and_leaves_no_folder_behind(
    small: Planned, ran: list[TrialKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    planned, run = keyless(small), tmp_path / "run"

    for options in (Options(), Options(resume=True)):
        with pytest.raises(MachineError, match="key is not set: set OPENAI_API_KEY, or give a bas"):
            run_campaign(planned, run, options)
    assert not run.exists()

    # A server of one's own may need none.
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h/v1")
    run_campaign(planned, run, Options())
    monkeypatch.delenv("OPENAI_BASE_URL")
    # Nothing is left that would ask.
    run_campaign(planned, run, Options(resume=True))

    assert len(ran) == len(planned.trials)


def test_a_browser_that_does_not_run_is_a_sentence(
    small: Planned, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rubbish = tmp_path / "chromium"
    rubbish.write_bytes(b"\x00rubbish")
    rubbish.chmod(0o755)
    monkeypatch.setenv("WAREX_CHROMIUM", str(rubbish))

    with pytest.raises(MachineError, match="set WAREX_CHROMIUM to one that runs"):
        run_campaign(small, tmp_path / "run", Options())
