"""Damaged trials are left out of every format, and void ones are marked."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.analysis.builders import RunFolder, solved
from tests.cli.conftest import Warex
from tests.exports.runs import clean, recovering
from warex.traces.outcome import Void
from warex.traces.paths import EVENTS, OUTCOME

FORMATS = ("har", "otel", "paper-log", "eee", "parquet")


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial("clean", "good", solved(), clean())
    folder.trial("server-error", "void", Void(reason="no browser"), recovering())
    return folder


def damage(run: RunFolder) -> str:
    """Write a trial with an invalid line; return where it is."""
    run.trial("clean", "wrong", solved(), clean())
    (events,) = (path for path in run.path.rglob(EVENTS) if "wrong" in path.parts)
    first, _, *others = events.read_text().splitlines()
    events.write_text("\n".join((first, "{damaged", *others)) + "\n")
    return f"{events}:2: "


@pytest.mark.parametrize("kind", FORMATS)
def test_a_damaged_trial_is_named_and_the_others_are_written(
    warex: Warex, run: RunFolder, tmp_path: Path, kind: str
) -> None:
    place = damage(run)

    ended = warex("export", run.path, "--to", kind, "--out", tmp_path / "out")

    assert ended.code == warex("report", run.path).code == 2
    assert place in ended.err
    assert "1 damaged trial is left out; the rest is written" in ended.err
    assert "left out   1: damaged" in ended.out
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*.*"))
    assert b"good" in written
    assert b"wrong" not in written


def test_a_data_set_is_without_a_damaged_trial(
    warex: Warex, run: RunFolder, tmp_path: Path
) -> None:
    run.trial("server-error", "good", solved(), recovering())
    place = damage(run)

    ended = warex("export", run.path, "--split", "none", "--all", "--out", tmp_path / "out")

    assert (ended.code, place in ended.err) == (2, True)
    assert "left out   1: damaged" in ended.out
    assert (tmp_path / "out/train.jsonl").read_text().count("\n") == 3


def test_a_damaged_outcome_is_named(warex: Warex, run: RunFolder, tmp_path: Path) -> None:
    (outcome,) = (path for path in run.path.rglob(OUTCOME) if "good" in path.parts)
    outcome.write_text("[]")

    ended = warex("export", run.path, "--to", "otel", "--out", tmp_path / "out")

    assert ended.code == 2
    assert str(outcome) in ended.err
    assert "otel       1 trial: " in ended.out


def test_only_damaged_trials_are_an_error_and_nothing_is_written(
    warex: Warex, run: RunFolder, tmp_path: Path
) -> None:
    for events in run.path.rglob(EVENTS):
        events.write_text("{damaged\n")

    ended = warex("export", run.path, "--to", "har", "--out", tmp_path / "out")

    assert ended.code == 2
    assert "every trial is damaged, 2 in all; the first: " in ended.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["har", "otel", "paper-log", "parquet"])
def test_a_void_trial_is_marked_and_counted(
    warex: Warex, run: RunFolder, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "out"
    ended = warex("export", run.path, "--to", kind, "--out", out)

    assert ended.code == 0
    assert "void       1: marked in the files" in ended.out
    match kind:
        case "har":
            logs = [json.loads(path.read_bytes())["log"] for path in sorted(out.rglob("*.har"))]
            assert [log["_warex"]["void"] for log in logs] == [None, "no browser"]
        case "otel":
            lines = (out / "traces.jsonl").read_text().splitlines()
            marked = [line for line in lines if '"warex.void"' in line]
            assert ['"no browser"' in line for line in marked] == [True]
        case "paper-log":
            texts = [path.read_text() for path in sorted(out.rglob("*.log"))]
            assert [text.startswith('Void: "no browser"\n') for text in texts] == [False, True]
        case _:
            outcomes = pl.read_parquet(out / "trials.parquet")["outcome"]
            assert outcomes.to_list() == ["counted", "void"]


def test_every_eval_ever_is_without_void_trials(
    warex: Warex, run: RunFolder, tmp_path: Path
) -> None:
    ended = warex("export", run.path, "--to", "eee", "--out", tmp_path / "out")

    assert ended.code == 0
    assert "left out   1: without a score, 1 of them void" in ended.out
