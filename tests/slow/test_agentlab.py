"""AgentLab's GenericAgent on BrowserGym, unmodified, behind the proxy with a real Chromium."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.slow.harness import Played, made, own_authority, play, site
from warex.traces import (
    AgentAction,
    Armed,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    RequestSeen,
)

pytestmark = pytest.mark.slow

CLICK_THE_BUTTON = {
    "rules": [
        {
            "when": r"\[(?P<bid>\d+)\] button",
            "say": "I click it.\n<action>\nclick('$bid')\n</action>",
        }
    ]
}

LATE_SCRIPTS = {
    "name": "late-scripts",
    "rules": [
        {
            "name": "late",
            "match": {"resource": ["script"]},
            "trigger": {"first": 2},
            "fault": {"kind": "javascript_failure", "mode": "delay", "delay": 2.0},
        }
    ],
}

FIND_THE_ZIP_CODE = {
    "rules": [
        {
            "when": r"StaticText 'ZIP code: (?P<zip>\d+)'",
            "say": "There it is.\n<action>\nsend_msg_to_user('$zip')\n</action>",
        },
        {
            "when": r"\[(?P<bid>\w+)\] link 'Carnegie Mellon University'",
            "say": "I follow the link.\n<action>\nclick('$bid')\n</action>",
        },
        {
            "when": "The directory is on holiday",
            "say": "I go back.\n<action>\ngo_back()\n</action>",
        },
    ]
}

ON_HOLIDAY = {
    "name": "on-holiday",
    "rules": [
        {
            "name": "down",
            "match": {"url": "{sites}", "resource": ["document"]},
            "trigger": {"first": 1},
            "fault": {
                "kind": "http_error",
                "body": "<title>500</title><h1>The directory is on holiday</h1>",
            },
        }
    ],
}

MAP = {
    "/": "<title>Map</title><h1>Places</h1><a href='/place/1'>Carnegie Mellon University</a>",
    "/place/1": "<title>CMU</title><h1>Carnegie Mellon University</h1><p>ZIP code: 15213</p>",
}
"""Stands in for WebArena's map: its task 70 asks for a ZIP code and wants exactly that."""


@pytest.fixture(scope="module")
def environment(environments: Path) -> Path:
    own_authority(environments)
    return made("agentlab", environments)


def campaign(environment: Path, task: str, faulted: str, **benchmark: Any) -> dict[str, Any]:
    return {
        "name": "agentlab",
        "benchmark": {"name": "agentlab", "dir": str(environment), **benchmark},
        "tasks": {"names": [task]},
        "timeout_s": 180,
        "agents": [{"name": "generic", "model": "playbook:playbook.yaml", "max_steps": 8}],
        "conditions": [{"name": "clean"}, {"name": faulted, "scenario": f"{faulted}.yaml"}],
    }


@pytest.fixture(scope="module")
def miniwob(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    # In environment mode; WebArena below, by whatever way this machine allows.
    fields = campaign(environment, "miniwob.click-test", "late") | {"isolate": "environment"}
    folder = tmp_path_factory.mktemp("miniwob")
    return play(folder, fields, playbook=CLICK_THE_BUTTON, late=LATE_SCRIPTS)


@pytest.fixture(scope="module")
def webarena(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    with site(MAP) as port:
        fields = campaign(
            environment,
            "webarena.70",
            "down",
            sites={"map": f"http://127.0.0.1:{port}"},
            options={"slow_mo": 20},
        )
        folder = tmp_path_factory.mktemp("webarena")
        return play(folder, fields, playbook=FIND_THE_ZIP_CODE, down=ON_HOLIDAY)


def summary(played: Played, condition: str) -> dict[str, Any]:
    (path,) = played.folder(condition).glob("agentlab/*/summary_info.json")
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def actions_logged(played: Played, condition: str) -> list[str]:
    (log,) = played.folder(condition).glob("agentlab/*/experiment.log")
    return re.findall(r"^action:\n(\w+)\(", log.read_text(), re.MULTILINE)


def test_miniwob_is_solved_clean_and_with_scripts_two_seconds_late(miniwob: Played) -> None:
    assert {name: trial.solved for name, trial in miniwob.trials.items()} == {
        "clean": True,
        "late": True,
    }
    trace = miniwob.trace("late")
    assert [fault.waited_s >= 2 for fault in trace.events(FaultDelivered)] == [True, True]
    assert all(fault.url.endswith(".js") for fault in trace.events(FaultPlanned))
    # It has no other traffic: what is late is late before the agent's first step.
    order = [entry.event.event for entry in trace.of(Armed, FaultPlanned, LlmCall)]
    assert order == ["armed", "fault_planned", "fault_planned", "llm_call"]


def test_webarena_on_a_stand_in_host_is_solved_clean(webarena: Played) -> None:
    assert webarena.trials["clean"].solved is True
    pages = [e.url for e in webarena.trace("clean").events(RequestSeen) if "webarena" in e.url]
    assert "http://map.webarena.warex.test/place/1" in pages


def test_a_server_error_after_the_first_call_shows_in_the_next_observation(
    webarena: Played,
) -> None:
    trace = webarena.trace("down")
    (planned,) = trace.events(FaultPlanned)
    (delivered,) = trace.events(FaultDelivered)
    calls = list(trace.events(LlmCall))

    assert delivered.injection == planned.injection
    assert planned.url.endswith("/place/1")
    order = [entry.event.event for entry in trace.of(FaultPlanned, LlmCall)]
    assert order == ["llm_call", "fault_planned", "llm_call", "llm_call", "llm_call"]
    assert "on holiday" not in json.dumps(calls[0].messages)
    assert "on holiday" in json.dumps(calls[1].messages)
    assert [action.name for action in trace.events(AgentAction)] == [
        "click",
        "go_back",
        "click",
        "send_msg_to_user",
    ]
    assert webarena.trials["down"].solved is True


@pytest.mark.parametrize(
    ("fixture", "condition", "steps"),
    [
        ("miniwob", "clean", 1),
        ("miniwob", "late", 1),
        ("webarena", "clean", 2),
        ("webarena", "down", 4),
    ],
)
def test_what_the_harness_logged_and_what_was_seen_agree(
    fixture: str, condition: str, steps: int, request: pytest.FixtureRequest
) -> None:
    played: Played = request.getfixturevalue(fixture)
    answer, trial = summary(played, condition), played.trials[condition]
    calls = list(played.trace(condition).events(LlmCall))

    assert answer["n_steps"] == len(calls) == steps
    assert answer["cum_reward"] == 1.0
    assert trial.outcome is not None
    assert answer["stats.cum_input_tokens"] == sum(call.input_tokens or 0 for call in calls)
    assert answer["stats.cum_output_tokens"] == sum(call.output_tokens or 0 for call in calls)
    assert {call.usage for call in calls} == {"reported"}
    seen = [action.name for action in played.trace(condition).events(AgentAction)]
    assert actions_logged(played, condition) == seen
