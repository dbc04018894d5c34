"""What a campaign will run, told before anything runs."""

from pathlib import Path

import msgspec
import pytest

from tests.campaigns.conftest import OF_COMMAND, TASK
from warex.campaigns.config.campaign import (
    CampaignConfig,
    built_in_names,
    load_campaign,
)
from warex.campaigns.plan.campaign_plan import plan, plan_replay
from warex.clock import Clock
from warex.errors import CampaignError, InputError, ScenarioError, TraceError
from warex.llm.defences import DEFENCES
from warex.scenarios.load import load_preset
from warex.traces import (
    FaultPlanned,
    TraceWriter,
    TrialBegan,
)


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


def test_a_silence_without_an_end_needs_a_time_limit(demo: CampaignConfig, tmp_path: Path) -> None:
    (tmp_path / "silent.yaml").write_text(
        "name: silent\nrules: [{name: silent, trigger: {first: 1},"
        " fault: {kind: stalled_body, then: never}}]\n"
    )
    fields = demo.model_dump(mode="json", exclude_unset=True) | {
        "conditions": [{"name": "silent", "scenario": str(tmp_path / "silent.yaml")}]
    }
    for limit in ("timeout_s", "longest_hold_s"):
        fields.pop(limit, None)

    with pytest.raises(CampaignError, match=r"'silent' \(stalled_body\) lasts until .* timeout_s"):
        plan(CampaignConfig.model_validate(fields))
    for limited in ({"timeout_s": 300}, {"longest_hold_s": 5}):
        assert plan(CampaignConfig.model_validate(fields | limited)).trials


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
def test_what_does_not_exist_is_reported_before_anything_runs(
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
def test_what_does_not_exist_is_reported_with_the_campaigns_file(
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


def test_what_cannot_run_is_reported_before_a_replay_too(
    demo: CampaignConfig, tmp_path: Path
) -> None:
    config = CampaignConfig.model_validate(demo.model_dump() | OF_COMMAND)

    with pytest.raises(CampaignError, match="'no-such-one' is not a program that runs"):
        plan_replay(config, past_trial(tmp_path, benchmark="command"))


def test_a_scripted_model_without_tasks_is_reported_before_the_run(
    demo: CampaignConfig,
) -> None:
    of_command = {"name": "command", "options": {"command": "true", "tasks": [TASK]}}
    change = OF_COMMAND | {"benchmark": of_command, "conditions": [{"name": "clean"}]}

    with pytest.raises(CampaignError, match=r"scripted:… know no task of the benchmark 'command'"):
        plan(CampaignConfig.model_validate(demo.model_dump() | change))


def test_all_unknown_names_of_a_campaign_are_reported_together(
    demo: CampaignConfig,
) -> None:
    config = CampaignConfig.model_validate(
        demo.model_dump()
        | {
            "agents": [{"name": "a", "model": "scripted:givup"}],
            "conditions": [
                {"name": "one", "scenario": "paper/server-eror"},
                {"name": "two", "scenario": "paper/popp"},
            ],
            "tasks": {"names": ["calendar-gate-cod"]},
        }
    )

    with pytest.raises(CampaignError, match="the campaign has 4 mistakes") as refused:
        plan(config)

    first, second, third, fourth = str(refused.value).splitlines()[1:]
    assert "condition 'one': there is no scenario 'paper/server-eror'" in first
    assert "condition 'two'" in second
    assert third == "  agent 'a': there is no scripted model 'givup'; did you mean 'giveup'?"
    assert "there is no task 'calendar-gate-cod'" in fourth
