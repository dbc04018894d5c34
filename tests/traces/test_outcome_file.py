from pathlib import Path

import pytest

from warex.errors import MachineError, TraceError
from warex.traces import (
    Counted,
    Outcome,
    Unscored,
    Void,
    leave_outcome,
    read_outcome,
    write_outcome,
)

ENDED = Unscored(ending="answered", latency_s=1.5)


@pytest.mark.parametrize(
    "outcome",
    [
        Counted(ending="answered", score=0.5, latency_s=1.5, answer="ja ✓", reasons=("a", "b")),
        Void(reason="the browser did not start"),
        Unscored(ending="time_limit", latency_s=3.0),
        Unscored(),
        Unscored(ending="agent_crashed", latency_s=1.0, refused_ports=(7770, 8000)),
        Counted(ending="answered", score=0, latency_s=1.0, refused_ports=(80,)),
    ],
)
def test_an_outcome_survives_the_round_trip(tmp_path: Path, outcome: Outcome) -> None:
    write_outcome(tmp_path, outcome)

    assert read_outcome(tmp_path) == outcome
    assert [path.name for path in tmp_path.iterdir()] == ["outcome.json"]


def test_without_an_outcome_there_is_no_trial(tmp_path: Path) -> None:
    assert read_outcome(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"outcome": "voi', "cut short or damaged"),
        ("", "cut short or damaged"),
        ("[]", "holds no JSON object"),
        ('{"outcome": "void"}', "reason: Field required"),
        ('{"outcome": "won"}', "outcome: Invalid value 'won'"),
    ],
)
def test_a_damaged_outcome_is_a_sentence(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "outcome.json").write_text(text)

    with pytest.raises(TraceError, match=rf"outcome\.json: .*{why}"):
        read_outcome(tmp_path)


def test_a_key_in_an_answer_is_redacted(tmp_path: Path) -> None:
    write_outcome(tmp_path, Void(reason="401 for sk-proj-abcDEF0123456789"))

    assert read_outcome(tmp_path) == Void(reason="401 for [redacted]")


def test_what_ended_in_good_order_is_unscored(tmp_path: Path) -> None:
    leave_outcome(tmp_path, None, ENDED)

    assert read_outcome(tmp_path) == ENDED


def test_a_broken_proxy_voids_the_trial(tmp_path: Path) -> None:
    leave_outcome(tmp_path, "the disk is full", ENDED)

    assert read_outcome(tmp_path) == Void(reason="the disk is full")


def test_without_a_folder_there_is_nothing_to_leave() -> None:
    leave_outcome(None, None, ENDED)


def test_a_folder_that_refuses_is_reported_unless_the_trial_is_void_anyway(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    no_folder = tmp_path / "file" / "trial"

    leave_outcome(no_folder, "the disk is full", ENDED)
    with pytest.raises(MachineError):
        leave_outcome(no_folder, None, ENDED)
