import json
from pathlib import Path
from typing import Any

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.inspection.as_json import inspection_json
from warex.analysis.inspection.timeline import inspect_trial
from warex.traces import Void


def document_of(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        json.dumps(inspection_json(inspect_trial(folder)), allow_nan=False)
    )
    return data


def test_json_has_everything_that_the_text_has(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    data = document_of(folder)

    assert data["schema_version"] == 2
    assert data["trial"] == {
        "benchmark": "testbed",
        "agent": "patient",
        "condition": "server-error",
        "task": "add",
        "repeat": 1,
        "attempt": 1,
    }
    assert (data["outcome"]["outcome"], data["outcome"]["score"]) == ("counted", 1.0)
    assert (data["llm"]["steps"], data["llm"]["input_tokens"]) == (2, 2000)
    assert [(call["seq"], call["step"]) for call in data["llm"]["calls"]] == [(2, 1), (8, 2)]
    assert sum(call["cost_usd"] for call in data["llm"]["calls"]) == data["llm"]["cost_usd"] > 0
    (injection,) = data["injections"]
    assert (injection["id"], injection["fate"], injection["fate_seq"]) == ("i1", "delivered", 7)
    recovery = injection["recovery"]
    assert (recovery["verdict"], recovery["call_seq"]) == ("recovered", 8)
    assert recovery["request_seq"] == 10
    assert data["recovered"] is True
    assert data["timeline"][0] == {
        "seq": 1,
        "t": 0.0,
        "kind": "trial_began",
        "text": data["timeline"][0]["text"],
    }
    assert [moment["seq"] for moment in data["timeline"]] == [1, 2, 3, 5, 6, 7, 8, 9, 11, 12]


def test_the_json_structure_does_not_depend_on_the_data(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    full = document_of(
        run.trial("server-error", "add", solved(), Story().thinks(1, "goto").fault(1))
    )
    bare = document_of(run.trial("no-proxy", "add", Void(reason="it broke")))

    assert full.keys() == bare.keys()
    assert bare["llm"] is None
    assert bare["recovered"] is None
    assert bare["outcome"]["reason"] == "it broke"
    assert (bare["injections"], bare["timeline"]) == ([], [])


def test_an_injection_that_missed_has_no_verdict(tmp_path: Path) -> None:
    story = Story().asks("x1").planned("i1", "x1")
    folder = RunFolder(tmp_path).trial("server-error", "add", solved(), story)

    (injection,) = document_of(folder)["injections"]

    assert (injection["fate"], injection["recovery"]) == ("open", None)
