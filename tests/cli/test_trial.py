from pathlib import Path

from warex.cli.trial import attempt_of


def test_a_trial_is_its_last_attempt(tmp_path: Path) -> None:
    for number in (1, 2, 10):
        (tmp_path / f"attempt-{number}").mkdir()

    assert attempt_of(tmp_path) == tmp_path / "attempt-10"


def test_an_attempt_or_a_file_is_itself(tmp_path: Path) -> None:
    assert attempt_of(tmp_path) == tmp_path
    assert attempt_of(tmp_path / "none") == tmp_path / "none"
