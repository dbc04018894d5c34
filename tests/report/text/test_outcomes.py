from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, failed, solved
from warex.analysis.run.load import load_run
from warex.report.text.outcomes import describe_outcome, describe_recovery
from warex.traces import Outcome, Unscored, Void


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (solved(), "success: score 1, "),
        (failed(), "failure: score 0, "),
        (Unscored(latency_s=1.0), "unscored: 1.0 s"),
        (
            Unscored(ending="answered", latency_s=1.0),
            "unscored: the agent ended by itself, 1.0 s",
        ),
        (Void(reason="the proxy died"), "void: the proxy died"),
        (None, "not finished"),
    ],
)
def test_an_outcome_is_reported_with_its_reason(
    outcome: Outcome | None, words: str, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial("clean", "shop-a", outcome)
    (trial,) = load_run(folder.path).trials

    assert describe_outcome(trial.outcome).startswith(words)
    assert describe_recovery(trial) == "not exposed"
