"""The paper's log of a trial: its lines, its order, one line for each."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.errors import TraceError
from warex.exports.run_formats.paper_log import paper_logs
from warex.traces.events import LlmCall

MOMENT = r"\d+\.\d{3} \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)"


def asked(story: Story, **more: object) -> Story:
    """Have the last call to the model say more."""
    for place in reversed(range(len(story.events))):
        t, event = story.events[place]
        if isinstance(event, LlmCall):
            story.events[place] = (t, msgspec.structs.replace(event, **more))
            return story
    raise AssertionError


def a_trial(folder: RunFolder, condition: str = "clean", task: str = "add-1") -> Path:
    story = Story().page("x1")
    asked(story.thinks(1, "goto"), messages=[{"role": "user", "content": "line\nΔ"}])
    story.page("x2")
    asked(story.thinks(2, "stop"), answer="", tool_calls=[{"name": "stop"}])
    return folder.trial(condition, task, solved(), story)


def test_the_log_has_the_papers_lines(tmp_path: Path) -> None:
    (log,) = paper_logs(a_trial(RunFolder(tmp_path).manifest()))

    lines = log.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "Task_Name_Number",
        *["LLM Request Content", "LLM Response Content"] * 2,
        *["Client connected at", "Response received at", "Latency"],
    ]
    assert lines[0] == "Task_Name_Number: add-1"
    assert lines[1] == 'LLM Request Content: [{"role": "user", "content": "line\\nΔ"}]'
    assert lines[2] == 'LLM Response Content: "goto()"'
    assert json.loads(lines[4].partition(": ")[2]) == {
        "content": "",
        "tool_calls": [{"name": "stop"}],
    }
    assert re.fullmatch(f"Client connected at: {MOMENT}", lines[5])
    assert re.fullmatch(f"Response received at: {MOMENT}", lines[6])
    # The first request came in the second second; the last answer in the seventh.
    began, ended = (float(line.partition(": ")[2].partition(" ")[0]) for line in lines[5:7])
    assert lines[7] == f"Latency: {1000 * (ended - began):.0f} ms"
    assert ended > began


def test_a_call_without_an_answer_says_why(tmp_path: Path) -> None:
    story = asked(Story().page("x1").thinks(1, None), answer="", error="cut")
    (log,) = paper_logs(RunFolder(tmp_path).manifest().trial("clean", "t", failed(), story))

    assert 'LLM Response Content: {"error": "cut"}\n' in log


def test_the_log_of_several_trials_separates_them(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    for condition in ("clean", "server-error"):
        for task in ("a-1", "b-2"):
            attempt = a_trial(folder, condition, task)

    assert len(list(paper_logs(tmp_path))) == 4
    assert "\nTrial: patient / clean / repeat 1\n" in next(paper_logs(tmp_path))
    of_condition = list(paper_logs(attempt.parents[2]))
    assert [log.splitlines()[0] for log in of_condition] == [
        "Task_Name_Number: a-1",
        "Task_Name_Number: b-2",
    ]
    assert not any("Trial: " in log for log in of_condition)


def test_what_nobody_watched_is_a_dash(tmp_path: Path) -> None:
    (log,) = paper_logs(RunFolder(tmp_path).manifest().trial("no-proxy", "t", solved(), None))

    assert log == (
        "Task_Name_Number: t\nClient connected at: —\nResponse received at: —\nLatency: —\n"
    )


def test_a_folder_without_a_trial_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="holds no trial"):
        list(paper_logs(tmp_path))
