"""The one writer of a trial's trace: what it counts, and that it never fails in silence."""

from pathlib import Path

import pytest
from msgspec import structs

from warex.clock import Clock
from warex.errors import MachineError, TrialVoid, WarexError
from warex.lane.record.fault_lines import fault_line
from warex.lane.record.recorder import Recorder
from warex.traces import (
    Armed,
    Event,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    TraceWriter,
    read_trace,
)

PLANNED = FaultPlanned(
    injection="i1",
    exchange="x1",
    rule="r",
    fault={},
    stage="request",
    scope="",
    ordinal=1,
    effects=("cut",),
    url="http://x/",
)
DELIVERED = FaultDelivered(injection="i1", exchange="x1", rule="r")
MISSED = FaultMissed(rule="r", reason="client_gone", injection="i2", exchange="x2")
TRIES = (("i1", None), ("i2", "i1"))
LEFT_ALONE = FaultMissed(rule="r", reason="never", count=3)


class Full(TraceWriter):
    """A trace on a full disk."""

    def write(self, event: Event, t: float | None = None) -> None:
        raise MachineError("the disk is full")


def test_equal_bodies_have_one_id_and_an_empty_one_has_none() -> None:
    recorder = Recorder(Clock())
    assert [recorder.body(digest) for digest in ("a1", "", "b2", "a1")] == [1, 0, 2, 1]


def test_the_ledger_holds_the_injections_and_nothing_else() -> None:
    recorder = Recorder(Clock())
    for event in (Armed(by="start"), PLANNED, DELIVERED, MISSED, LEFT_ALONE):
        recorder.write(event)
    assert recorder.ledger == [PLANNED, DELIVERED, MISSED, LEFT_ALONE]
    assert (recorder.delivered, recorder.missed) == (1, 1)


def test_a_clients_silent_repeats_are_one_occurrence() -> None:
    recorder = Recorder(Clock())
    first, again = (structs.replace(PLANNED, injection=it, repeat_of=of) for it, of in TRIES)
    twice: list[Event] = [first, again, DELIVERED, structs.replace(DELIVERED, injection="i2")]
    for event in twice:
        recorder.write(event)
    assert (recorder.delivered, recorder.missed) == (1, 0)

    recorder = Recorder(Clock())
    once: list[Event] = [first, structs.replace(MISSED, injection="i1"), again]
    for event in once:
        recorder.write(event)
    assert (recorder.delivered, recorder.missed) == (0, 1)
    recorder.write(structs.replace(DELIVERED, injection="i2"))
    assert (recorder.delivered, recorder.missed) == (1, 0), "met after all"


def test_the_end_of_each_fault_is_a_line_without_the_query() -> None:
    lines: list[str] = []
    recorder = Recorder(Clock(), on_settled=lambda plan, end: lines.append(fault_line(plan, end)))
    first = structs.replace(PLANNED, fault={"kind": "delay"}, url="http://x/a?token=abc#b")
    second = structs.replace(first, injection="i2", url="http://x/" + "b" * 300)
    late = structs.replace(DELIVERED, waited_s=2.04)
    for event in (first, second, LEFT_ALONE, MISSED, late, late):
        recorder.write(event)
    assert lines == [
        f"missed: delay on http://x/{'b' * 191}… (rule r): client gone",
        "delivered: delay on http://x/a (rule r), after 2.0 s",
    ]


def test_what_no_rule_hits_is_not_a_miss() -> None:
    recorder = Recorder(Clock())
    recorder.write(LEFT_ALONE)
    assert recorder.missed == 0


def test_the_first_break_is_reported_once_and_all_are_written(tmp_path: Path) -> None:
    causes: list[WarexError] = []
    path = tmp_path / "events.jsonl"
    with TraceWriter(path, Clock()) as writer:
        recorder = Recorder(Clock(), writer, on_broken=causes.append)
        recorder.harness_broke("first", "x1")
        recorder.harness_broke("second")
    assert [(type(cause), str(cause)) for cause in causes] == [(TrialVoid, "first")]
    assert recorder.broken == "first"
    reasons = [event.reason for event in read_trace(path).events(HarnessBroke)]
    assert reasons == ["first", "second"]


def test_a_trace_that_cannot_be_written_breaks_the_trial(tmp_path: Path) -> None:
    causes: list[WarexError] = []
    with Full(tmp_path / "events.jsonl", Clock()) as writer:
        recorder = Recorder(Clock(), writer, on_broken=causes.append)
        with pytest.raises(MachineError):
            recorder.write(Armed(by="start"))
        recorder.harness_broke("afterwards")
    assert [(type(cause), str(cause)) for cause in causes] == [(MachineError, "the disk is full")]
