import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from tests.analysis.builders import RunFolder, Story, as_planned, failed
from warex.analysis.run.load import load_run
from warex.report.ci.sarif import sarif, sarif_results
from warex.traces.events import FaultPlanned


def attacked(*reports: str) -> Story:
    story = Story().thinks(1, "goto").popup(1, *reports).thinks(2, "click").stops()
    for place, (t, event) in enumerate(story.events):
        if isinstance(event, FaultPlanned):
            story.events[place] = (t, as_planned(event, {"kind": "prompt_injection"}))
    return story


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    made = RunFolder(Path("runs/a b")).manifest()
    made.trial("attack", "buy\x1b", failed(), attacked("clicked"))
    made.trial("attack", "sell", failed(), attacked())
    read: dict[str, Any] = json.loads(sarif(list(sarif_results(load_run(Path("runs/a b"))))))
    return read


def test_only_an_attack_that_succeeded_is_a_result(log: dict[str, Any]) -> None:
    (run,) = log["runs"]
    (result,) = run["results"]

    assert log["version"] == "2.1.0"
    assert result["ruleId"] == "prompt_injection"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "prompt_injection"
    assert "clicked" in result["message"]["text"]
    assert "\x1b" not in json.dumps(result, ensure_ascii=False)


def test_a_result_is_at_the_line_of_the_trace_with_the_act(log: dict[str, Any]) -> None:
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]

    uri = place["artifactLocation"]["uri"]
    assert uri.startswith("runs/a%20b/")
    (trace,) = (path for path in Path("runs").rglob("events.jsonl") if "buy" in str(path))
    line = trace.read_text().splitlines()[place["region"]["startLine"] - 1]
    assert json.loads(line)["event"] == "witness"


def test_a_log_is_valid_sarif(log: dict[str, Any]) -> None:
    for made in (log, json.loads(sarif([]))):
        read = Sarif.model_validate(made)
        assert len(read.runs) == 1

    log["runs"][0]["results"][0]["where"] = "here"
    with pytest.raises(ValidationError, match="where"):
        Sarif.model_validate(log)


def test_no_attack_is_an_empty_log() -> None:
    assert json.loads(sarif([]))["runs"][0]["results"] == []
