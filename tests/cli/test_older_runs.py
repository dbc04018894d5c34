"""A run folder of ``schema_version`` 2, kept as it was written, under every command that reads one.

Its faulted trial has an effect of every kind that version 3 renamed, and a retried LLM call. The
other folders have tasks that a marker and a header began, with an exchange that nobody answered,
and a fault that the control API added.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.effects import EFFECTS
from warex.scenarios.injection.replay import read_replay
from warex.traces import FaultPlanned, LlmRetried, ResponseSeen, TaskBegan, read_trace

OLDER = Path(__file__).parents[1] / "traces" / "version_2"
FAULTED = "trials/command/mine/all/tea/1/attempt-1"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    shutil.copytree(OLDER / "run", tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("lean", [False, True])
def test_the_events_of_an_older_run_have_the_words_of_now(lean: bool) -> None:
    trace = read_trace(OLDER / "run" / FAULTED / "events.jsonl", lean=lean)

    assert [event.effects for event in trace.events(FaultPlanned)] == [
        ("stale_response",),
        ("other_page",),
        ("cut",),
        ("reply",),
        ("delay", "reply"),
        ("dns_error",),
        ("duplicate_request",),
        ("edit_tool_response",),
        ("push_tool_event", "reply"),
    ]
    assert {name for event in trace.events(FaultPlanned) for name in event.effects} <= set(EFFECTS)
    assert [event.retry_after_s for event in trace.events(LlmRetried)] == [1.0]

    tasks = read_trace(OLDER / "tasks" / "events.jsonl", lean=lean)
    assert {event.by for event in tasks.events(ResponseSeen)} == {"warex", "none"}
    assert [event.told_by for event in tasks.events(TaskBegan)] == ["marker", "marker", "header"]


def test_an_older_run_is_reported_compared_and_exported(warex: Warex, run: Path) -> None:
    report = warex("report", run, "--json")
    assert report.code == 0
    (faulted,) = (row for row in json.loads(report.out)["conditions"] if row["condition"] == "all")
    assert (faulted["planned"], faulted["delivered"]) == (9, 9)

    assert warex("report", run).code == 0
    assert warex("compare", run, run).code == 0
    data = run.with_name("data")
    exported = warex("export", run, "--to", "kto", "--out", data, "--split", "none", "--all")
    assert exported.code == 0, exported.err


def test_an_older_trial_is_inspected(warex: Warex, run: Path) -> None:
    result = warex("inspect", run / FAULTED, "--json")
    injections = json.loads(result.out)["injections"]
    assert [each["fate"] for each in injections] == ["delivered"] * 9

    assert "told to wait 1 s" in warex("inspect", run / FAULTED, "--full").out
    assert "by nobody" in warex("inspect", OLDER / "tasks", "--full").out


def test_a_fault_that_was_added_by_a_call_is_replayed_where_it_was() -> None:
    replay = read_replay(OLDER / "one_shot")

    assert [rule.name for rule in replay.scenario.rules] == ["one-shot-1"]
    assert len(replay.schedule) == 1


def test_the_faults_of_an_older_trial_are_replayed() -> None:
    replay = read_replay(OLDER / "run" / FAULTED)

    assert len(replay.schedule) == 9
    assert replay.scenario.name == "all"
