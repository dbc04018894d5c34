from pathlib import Path

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.run.attempts import last_attempts
from warex.traces.outcome import Void


def test_the_last_attempt_with_an_outcome_represents_its_trial(tmp_path: Path) -> None:
    made = RunFolder(tmp_path).manifest()
    made.trial("clean", "a", Void(reason="x"), Story())
    second = made.trial("clean", "a", solved(), Story(), attempt=2)
    made.trial("clean", "a", None, Story(), attempt=3)
    made.trial("clean", "b", None, Story())
    unfinished = made.trial("clean", "b", None, Story(), attempt=10)

    assert list(last_attempts(tmp_path)) == [second, unfinished]
    assert list(last_attempts(second.parent)) == [second]
    assert list(last_attempts(unfinished)) == [unfinished]
