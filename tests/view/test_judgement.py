from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, solved
from warex.view import judgement as of_view
from warex.view.judgement import is_judged_at_once, judgement
from warex.view.run_document import Attempt, attempts_of


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)
    (attempt,) = attempts_of(tmp_path).values()
    return attempt


def test_recoveries_are_judged(attempt: Attempt) -> None:
    judged = judgement(attempt)

    assert (judged["recovery"], judged["problem"]) == ("recovered", None)
    assert judged["verdicts"]["i1"]["verdict"] == "recovered"
    assert is_judged_at_once(attempt)


def test_what_cannot_be_judged_is_reported(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_view, "LARGEST_JUDGED", 10)
    too_large = judgement(attempt)
    monkeypatch.undo()
    (attempt.path / "events.jsonl").write_text("x\n")
    damaged = judgement(attempt)
    (attempt.path / "events.jsonl").unlink()
    (attempt.path / "outcome.json").unlink()
    missing = judgement(attempt)

    for judged, words in (
        (too_large, "`warex inspect"),
        (damaged, "is not judged: "),
        (missing, "holds no trial"),
    ):
        assert judged["recovery"] == "not judged"
        assert words in judged["problem"]
