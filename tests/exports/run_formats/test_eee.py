import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.builders import RunFolder, Story
from tests.exports.conftest import Program
from tests.exports.runs import several_sites
from warex.errors import InputError
from warex.exports.run_formats import RunExport
from warex.exports.run_formats.eee import write
from warex.traces.outcome import Void


def exported(run: Path, out: Path) -> list[str]:
    return list(write(RunExport("eee", (run,), out)))


def read(out: Path) -> dict[tuple[str, str], tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return the aggregates with their rows, by agent and condition."""
    results = {}
    for path in out.rglob("*.json"):
        aggregate = json.loads(path.read_text())
        rows = path.with_name(f"{path.stem}_samples.jsonl").read_text().splitlines()
        details = aggregate["evaluation_results"][0]["score_details"]["details"]
        results[details["agent"], details["condition"]] = aggregate, [*map(json.loads, rows)]
    return results


def test_an_agent_under_a_condition_is_an_evaluation_with_its_trials(tmp_path: Path) -> None:
    several_sites(tmp_path / "run")
    exported(tmp_path / "run", tmp_path / "out")
    results = read(tmp_path / "out")

    assert sorted(results) == [
        ("giveup", "server-error"),
        ("patient", "clean"),
        ("patient", "server-error"),
    ]
    aggregate, rows = results["patient", "server-error"]
    scores = {
        result["evaluation_result_id"]: result["score_details"]["score"]
        for result in aggregate["evaluation_results"]
    }
    assert scores == {"solved": 1.0, "recovered": 1.0}
    assert [
        result["evaluation_result_id"]
        for result in results["patient", "clean"][0]["evaluation_results"]
    ] == ["solved"]
    assert aggregate["detailed_evaluation_results"]["total_rows"] == len(rows) == 6
    assert {row["evaluation_id"] for row in rows} == {aggregate["evaluation_id"]}
    assert rows[0]["evaluation"]["is_correct"]
    assert json.loads(rows[0]["metadata"]["faults"])[0]["kind"] == "http_error"


def test_a_trial_without_a_score_is_left_out_and_counted(tmp_path: Path) -> None:
    several_sites(tmp_path / "run", ("shop",))
    RunFolder(tmp_path / "run").trial("clean", "b", Void(reason="no browser"), Story().page("x1"))

    lines = exported(tmp_path / "run", tmp_path / "out")

    assert lines == [
        "left out   1: without a score, 1 of them void",
        f"eee        3 trials: {tmp_path / 'out'}",
    ]
    assert len(read(tmp_path / "out")["patient", "clean"][1]) == 1


def test_a_run_without_a_score_is_a_sentence(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial("clean", "b", Void(reason="no browser"), Story().page("x1"))

    with pytest.raises(InputError, match="no trial has a score: 1 trial left out"):
        exported(tmp_path / "run", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_formats_own_validator_finds_no_problem(
    python_with: Callable[[str], Program], tmp_path: Path
) -> None:
    several_sites(tmp_path / "run")
    exported(tmp_path / "run", tmp_path / "out")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]

    command = ("-m", "every_eval_ever.validator.cli", "--format", "json")
    reports = json.loads(python_with("every_eval_ever")(*command, *files))

    assert len(reports) == 6
    assert [(each["errors"], each["warnings"]) for each in reports] == [([], [])] * 6
