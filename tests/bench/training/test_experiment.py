import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.training.campaigns import LIVE_FAULTS
from bench.training.command import parser, size_of
from bench.training.experiment import FULL, SMALL, Experiment, Size


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Those that were run, none of them really."""
    ran: list[Sequence[str]] = []

    def run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        ran.append(command[1:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("bench.training.steps.subprocess.run", run)
    return ran


def test_both_kinds_are_learnt_mixed_and_in_two_stages_and_all_are_tested(
    tmp_path: Path, commands: list[Sequence[str]]
) -> None:
    Experiment(tmp_path, replace(SMALL, stage_one=FULL.stage_one), "m.gguf").run()

    names = [command[0] for command in commands]
    assert names == [
        *("run", "run", "export"),
        *("export", "train") * 2,  # The rankers, before and after.
        *("evaluate", "evaluate") * 2,
        *("export", "train", "export", "train", "train"),
        *("evaluate", "evaluate", "evaluate"),
    ]
    mixed, _, one, two, asked, legal, hard = commands[-7:]
    assert "--test" in hard
    assert legal[legal.index("--legal") + 1] == str(tmp_path / "failures")
    assert legal[legal.index("--adapter") + 1] == str(tmp_path / "tuned-0")
    assert "--adapter" not in mixed
    assert "--one-sided" in one
    assert two[two.index("--adapter") + 1] == str(tmp_path / "stage-one")
    folders = ("failures", "answers-failures", "stage-one", "tuned-0", "two-stages")
    assert [word for word in asked if word.startswith(str(tmp_path))] == [
        str(tmp_path / name) for name in folders
    ]


def test_a_language_model_can_be_asked_the_held_out_rows_alone(
    tmp_path: Path, commands: list[Sequence[str]]
) -> None:
    Experiment(tmp_path, replace(SMALL, more_questions=False), "m.gguf").run()

    asked = [it for it in commands if it[0] == "evaluate" and "m.gguf" in it]
    assert len(asked) == 1
    assert "--legal" not in asked[0]
    assert "--test" not in asked[0]


def test_rankers_alone_need_no_language_model(
    tmp_path: Path, commands: list[Sequence[str]]
) -> None:
    Experiment(tmp_path, SMALL).run()

    trained = [command for command in commands if command[0] == "train"]
    assert [command[1] for command in trained] == ["--ranker", "--ranker"]
    exported = [command for command in commands if "--split" in command]
    assert all(str(tmp_path / "run-unseen") not in command for command in exported)


def test_nothing_that_is_tested_is_trained_on(
    tmp_path: Path, commands: list[Sequence[str]]
) -> None:
    Experiment(tmp_path, SMALL, "m.gguf").run()

    known, unseen = (
        (tmp_path / f"campaigns/{name}.json").read_text() for name in ("known", "unseen")
    )
    sites = [set(json.loads(text)["tasks"]["sites"]) for text in (known, unseen)]
    assert not sites[0] & sites[1]
    pages = [
        {
            rule["fault"]["page"]
            for rule in json.loads((tmp_path / f"campaigns/{name}-faults.json").read_text())[
                "rules"
            ]
        }
        for name in ("known", "unseen")
    ]
    assert not pages[0] & pages[1]
    pending = [word for command in commands for word in command if "=" in word]
    assert {word.partition("=")[2] for word in pending} == sites[1] | pages[1]


def test_what_was_done_is_not_done_again(tmp_path: Path, commands: list[Sequence[str]]) -> None:
    full = Experiment(tmp_path, SMALL, "m.gguf")
    full.run()
    commands.clear()
    (tmp_path / "tuned-0.done").unlink()
    (tmp_path / "tuned-0" / "checkpoints").mkdir(parents=True)

    full.run()

    ((name, *options),) = commands
    assert name == "train"
    assert "--resume" in options
    assert "evaluate-failures" in full.durations


def test_a_step_that_fails_is_not_marked_as_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: Sequence[str], **options: Any) -> None:
        raise subprocess.CalledProcessError(3, command)

    monkeypatch.setattr("bench.training.steps.subprocess.run", run)
    broken = Experiment(tmp_path, SMALL, "m.gguf")

    with pytest.raises(subprocess.CalledProcessError):
        broken.run()

    assert broken.durations == {}


def test_parts_can_be_left_out() -> None:
    def size(*words: str) -> Size:
        return size_of(parser().parse_args(["--out", "x", *words]))

    assert size() == FULL
    assert size("--seeds", "1").seeds == (0,)
    assert size("--stages", "one").stage_one is None
    assert not size("--stages", "two").mixed
    assert (size("--asked", "5").asked, size("--asked", "5").asked_hard) == (5, 5)
    assert size().live_faults == tuple(LIVE_FAULTS)
    assert size("--live-fault", "soft-error").live_faults == ("soft-error",)
    assert size("--no-live").live == size("--no-live").ranker_live == ()
    assert size("--quick", "--seeds", "2") == replace(SMALL, seeds=(0, 1))
