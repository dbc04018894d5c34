import sys
from pathlib import Path

import pytest

from tests.analysis.builders import WORDS, RunFolder, Story, solved
from warex.analysis.run.parallel_read import read_trials
from warex.analysis.trial.record import TrialRecord
from warex.errors import MachineError, TraceError
from warex.llm.prices.table import built_in_prices
from warex.traces.paths import EVENTS


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    run = RunFolder(tmp_path)
    return [run.trial("server-error", f"task-{n}", solved(n), story) for n in range(5)]


def test_parallel_reading_keeps_the_order_and_reports_damage(
    folders: list[Path],
) -> None:
    (folders[-1] / EVENTS).write_text("rubbish\n")
    attempts = [(folder, WORDS) for folder in folders]
    *alone, alone_error = read_trials(attempts, built_in_prices(), processes=1)
    *together, error = read_trials(attempts, built_in_prices(), processes=2)

    records = [record for record in alone if isinstance(record, TrialRecord)]
    assert [record.path for record in records] == folders[:-1]
    assert records[0].recovered
    assert together == alone
    assert isinstance(error, TraceError)
    assert "events.jsonl:1: this is not a line of JSON" in str(error)
    assert str(error) == str(alone_error)


def test_a_process_that_dies_is_not_an_empty_run(
    folders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(MachineError, match="a process that read traces ended with 1"):
        read_trials([(folder, WORDS) for folder in folders], built_in_prices(), processes=2)
