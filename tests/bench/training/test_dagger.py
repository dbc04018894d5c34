"""The rounds of `python -m bench dagger`, with no command really run."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bench.training.campaigns import short_tasks
from bench.training.dagger import FIRST, MORE, Dagger, comparisons
from bench.training.experiment import FULL, SMALL, Experiment
from bench.training.live import LiveTrial
from bench.training.rankers import BEFORE
from bench.training.steps import Steps


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    ran: list[Sequence[str]] = []

    def run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        ran.append(command[1:])
        return subprocess.CompletedProcess(command, 0)

    @contextmanager
    def served(steps: Steps, name: str, *options: str) -> Iterator[str]:
        ran.append(("serve", *options))
        yield "http://127.0.0.1:1/v1"

    monkeypatch.setattr("bench.training.steps.subprocess.run", run)
    monkeypatch.setattr(Steps, "served", served)
    return ran


def test_each_round_learns_from_all_earlier_runs_of_its_seed(
    tmp_path: Path, commands: list[Sequence[str]]
) -> None:
    dagger = Dagger(Experiment(tmp_path, SMALL), (0, 1), rounds=2, sample=3, live=("a-task",))
    dagger.run()

    exported = {
        Path(command[command.index("--out") + 1]).name: [
            Path(word).name for word in command if word.startswith(f"{tmp_path}/run-")
        ]
        for command in commands
        if command[0] == "export" and "--oracle" in command
    }
    assert exported == {
        "rows-dagger-0-1": ["run-known", "run-of-oracle-0"],
        "rows-dagger-1-1": ["run-known", "run-of-oracle-1"],
        "rows-dagger-0-2": ["run-known", "run-of-oracle-0", "run-of-dagger-0-1"],
        "rows-dagger-1-2": ["run-known", "run-of-oracle-1", "run-of-dagger-1-1"],
    }
    seeds = [
        json.loads((tmp_path / f"campaigns/of-{name}.json").read_text())["seed"]
        for name in ("oracle-0", "oracle-1", "dagger-0-1", "dagger-1-1")
    ]
    assert len(set(seeds)) == 4
    baseline = json.loads((tmp_path / "campaigns/more.json").read_text())
    assert baseline["tasks"]["sample"] == 2 * 3


def test_live_tasks_are_of_unseen_sites_and_no_seed_has_more_than_another(
    tmp_path: Path, commands: list[Sequence[str]]
) -> None:
    tasks = short_tasks(FULL.unseen)
    dagger = Dagger(Experiment(tmp_path, SMALL), (0, 1), rounds=1, sample=3, live=tasks)
    dagger.run()

    assert len(tasks) >= 12
    for name in dagger.compared:
        campaign = json.loads((tmp_path / f"campaigns/live-{name}-unseen.json").read_text())
        assert campaign["tasks"]["names"] == list(tasks)
        assert [it["name"] for it in campaign["conditions"]] == ["clean", "http-error"]


def test_a_run_with_a_served_model_restarts_since_its_port_changes(
    tmp_path: Path, commands: list[Sequence[str]]
) -> None:
    (tmp_path / "run-of-oracle-0").mkdir()
    Dagger(Experiment(tmp_path, SMALL), (0,), rounds=1, sample=3, live=("a-task",)).run()

    assert not any("--resume" in command for command in commands if command[0] == "run")


def test_success_rises_only_if_the_difference_is_significant() -> None:
    def trials(solved: int) -> list[LiveTrial]:
        return [LiveTrial(f"t{at}", "http-error", at < solved) for at in range(12)]

    live = {BEFORE: trials(0), FIRST: trials(5), MORE: trials(6), "dagger-0-1": trials(6)}

    assert [yes for yes, _ in comparisons(live, ["dagger-0-1"])] == [True, False, False]
