import json
from pathlib import Path
from typing import Any

import pytest

from warex.cli.campaigns.past_runs import past_trials

TRIAL = {
    "benchmark": "testbed",
    "agent": "mine",
    "condition": "clean",
    "latency_s": 2.5,
    "cost_usd": 0.25,
}


def run(folder: Path, *trials: dict[str, Any], model: str = "gpt-4o", **campaign: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps({"trials": trials}))
    agents = [{"name": "mine", "model": model}]
    manifest = {
        "made_at": "2025-01-01T00:00:00.000+00:00",
        "campaign": {"agents": agents, **campaign},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_every_trial_of_every_summarised_run_is_seen(tmp_path: Path) -> None:
    run(tmp_path / "a", TRIAL, TRIAL | {"cost_usd": None})
    run(tmp_path / "b", TRIAL | {"condition": "no-proxy"})
    (tmp_path / "file").touch()
    (tmp_path / "begun").mkdir()

    trials = past_trials(tmp_path)

    assert [
        (each.run, each.condition, each.model, each.latency_s, each.usd) for each in trials
    ] == [
        ("a", "clean", "gpt-4o", 2.5, 0.25),
        ("a", "clean", "gpt-4o", 2.5, None),
        ("b", "no-proxy", "gpt-4o", 2.5, 0.25),
    ]


def test_faults_that_hold_for_another_time_predict_nothing(tmp_path: Path) -> None:
    run(tmp_path / "a", TRIAL, TRIAL | {"condition": "slow"}, longest_hold_s=1.0)

    assert [each.condition for each in past_trials(tmp_path)] == ["clean"]
    assert [each.condition for each in past_trials(tmp_path, 1.0)] == ["clean", "slow"]


def test_void_trials_and_unknown_agents_are_not_past_runs(tmp_path: Path) -> None:
    run(tmp_path / "a", TRIAL | {"latency_s": None}, TRIAL | {"agent": "other"})

    assert past_trials(tmp_path) == []


@pytest.mark.parametrize("text", ["", "[1]", '{"trials": 1}', '{"trials": [1]}', '{"campaign": 1}'])
@pytest.mark.parametrize("file", ["summary.json", "manifest.json"])
def test_what_cannot_be_read_is_passed_over(tmp_path: Path, file: str, text: str) -> None:
    (run(tmp_path / "a", TRIAL) / file).write_text(text)

    assert past_trials(tmp_path) == []


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    assert past_trials(tmp_path / "none") == []
