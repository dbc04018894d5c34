from pathlib import Path

import pytest

from tests.proxy.support.lanes import configured, scenario
from warex.errors import InputError, ScenarioError
from warex.faults.connection.connection_refused import ConnectionRefused
from warex.faults.server.http_error import HttpError
from warex.lane.record.beginning import begin_record
from warex.traces import TrialBegan, read_trace


def test_a_trace_begins_with_what_the_trial_is(tmp_path: Path) -> None:
    config = configured(
        ca=Path("unused"), out=tmp_path, scenario=scenario(HttpError()), seed=7, task="buy"
    )

    injector, recorder = begin_record(config, {"warex": "1.2"})
    recorder.close()

    (began,) = read_trace(tmp_path / "events.jsonl").events(TrialBegan)
    assert (began.seed, began.task, began.versions) == (7, "buy", {"warex": "1.2"})
    assert injector.seed == 7


def test_a_fault_that_needs_a_namespace_is_refused_before_a_trace_begins(tmp_path: Path) -> None:
    config = configured(
        ca=Path("unused"), out=tmp_path / "trial", scenario=scenario(ConnectionRefused())
    )

    with pytest.raises(ScenarioError, match="namespace"):
        begin_record(config, {})
    assert not (tmp_path / "trial").exists()


def test_an_existing_trace_is_not_written_again(tmp_path: Path) -> None:
    config = configured(ca=Path("unused"), out=tmp_path)
    begin_record(config, {})[1].close()

    with pytest.raises(InputError):
        begin_record(config, {})
