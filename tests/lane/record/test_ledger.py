from pathlib import Path

import pytest

from warex.clock import Clock
from warex.errors import TraceError
from warex.lane.record.ledger import iter_ledger
from warex.traces import EVENTS, Control, FaultDelivered, FaultMissed, HarnessBroke, TraceWriter

DELIVERED = FaultDelivered(injection="i1", exchange="x1", rule='"event":"fault_', waited_s=0.5)
MISSED = FaultMissed(rule="far", reason="not_armed", count=3)


def test_a_ledger_reads_only_injection_events_during_the_trial(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / EVENTS, Clock()) as writer:
        for event in (
            Control(call="arm", arguments={"event": '","event":"fault_planned"'}),
            DELIVERED,
            HarnessBroke(reason='"at":"","event":"fault_missed"'),
            MISSED,
        ):
            writer.write(event)

        assert list(iter_ledger(writer.path)) == [DELIVERED, MISSED]


def test_a_ledger_without_its_trace_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"gone.jsonl cannot be read: No such file"):
        list(iter_ledger(tmp_path / "gone.jsonl"))
