import json
from pathlib import Path
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.errors import TraceError
from warex.traces import (
    Dns,
    Event,
    FaultDelivered,
    HarnessBroke,
    LlmCall,
    TraceWriter,
    TrialEnded,
    iter_trace,
    read_trace,
    reader,
)

from .samples import DELIVERED, any_event, fixed_clock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A trace of three events."""
    path = tmp_path / "events.jsonl"
    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(DELIVERED)
        trace.write(HarnessBroke(reason="two"))
        trace.write(HarnessBroke(reason="drei\u2028über"), t=1.5)
    return path


def change_line(path: Path, number: int, **changes: object) -> None:
    lines = path.read_text().split("\n")
    lines[number - 1] = json.dumps(json.loads(lines[number - 1]) | changes)
    path.write_text("\n".join(lines))


def test_written_events_are_read_back(path: Path) -> None:
    read = read_trace(path)

    assert [entry.event for entry in read.entries] == [
        DELIVERED,
        HarnessBroke(reason="two"),
        HarnessBroke(reason="drei\u2028über"),
    ]
    assert [(entry.seq, entry.t) for entry in read.entries] == [(1, 0.0), (2, 0.0), (3, 1.5)]
    assert read.entries[0].at == "2026-01-01T00:00:00.000+00:00"
    assert read.truncation is None


@given(st.lists(any_event, max_size=4))
def test_every_event_survives_the_round_trip_and_is_decoded_at_once(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event]
) -> None:
    path = tmp_path_factory.mktemp("trace") / "events.jsonl"
    with TraceWriter(path, fixed_clock()) as trace:
        for event in events:
            trace.write(event)

    retained = [
        msgspec.structs.replace(event, redacted=0) if isinstance(event, TrialEnded) else event
        for event in events
    ]
    with patch.object(reader, "_with_care", side_effect=AssertionError("the slow way")):
        assert [entry.event for entry in read_trace(path).entries] == retained


def test_a_trace_cut_anywhere_loses_only_the_line_that_was_cut(path: Path) -> None:
    full = path.read_bytes()
    line_ends = [n for n, byte in enumerate(full) if byte == ord("\n")]
    for size in range(1, len(full)):
        path.write_bytes(full[:size])

        read = read_trace(path)

        # A line that lacks nothing but its line end is whole.
        assert len(read.entries) == sum(end <= size for end in line_ends)
        at_an_end = size in line_ends or size - 1 in line_ends
        assert (read.truncation is None) == at_an_end


def test_the_sentence_about_a_cut_trace_says_where(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])

    assert str(read_trace(path).truncation).startswith(f"{path}:3: the last line is cut short")


def test_an_empty_trace_says_so(path: Path) -> None:
    path.write_bytes(b"")

    assert "before its first event" in str(read_trace(path).truncation)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"rubbish", "not a line of JSON"),
        (b"", "not a line of JSON"),
        (b"\xff\xfe", "not a line of JSON"),
        (b"[" * 100_000, "not a line of JSON"),
        (b"[1]", "no schema_version"),
        (b"{}", "no schema_version"),
    ],
)
def test_a_bad_line_in_the_middle_is_named(path: Path, line: bytes, why: str) -> None:
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))

    with pytest.raises(TraceError, match=rf"events\.jsonl:2: .*{why}"):
        read_trace(path)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"schema_version": 4}, "schema_version 4 is unknown; this WAREX reads 1 to 3"),
        ({"schema_version": None}, "schema_version None is unknown"),
        ({"event": "alien"}, "alien"),
        ({"surprise": 1}, "surprise: Extra inputs are not permitted"),
        ({"t": "late"}, "t: Input should be a valid number"),
        ({"reason": 7}, "reason: Input should be a valid string"),
        ({"seq": 9}, "seq 9 follows 1"),
    ],
)
def test_a_line_that_is_not_an_event_of_this_version_is_named(
    path: Path, changes: dict[str, object], why: str
) -> None:
    change_line(path, 2, **changes)

    with pytest.raises(TraceError, match=rf"events\.jsonl:2: .*{why}"):
        read_trace(path)


def test_a_missing_trace_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="does not exist"):
        read_trace(tmp_path / "events.jsonl")
    with pytest.raises(TraceError, match="cannot be read: Is a directory"):
        read_trace(tmp_path)


def test_a_long_trace_can_be_read_line_by_line(path: Path) -> None:
    change_line(path, 3, surprise=1)
    lines = iter_trace(path)

    assert [next(lines).seq, next(lines).seq] == [1, 2]
    with pytest.raises(TraceError):
        next(lines)


def test_the_entries_of_one_type_can_be_asked_for(path: Path) -> None:
    read = read_trace(path)

    assert [entry.seq for entry in read.of(HarnessBroke)] == [2, 3]
    assert read.of(FaultDelivered, HarnessBroke) == read.entries
    assert read.events(FaultDelivered) == (DELIVERED,)


def test_a_lean_reading_leaves_out_what_no_figure_rests_on(tmp_path: Path) -> None:
    name = Dns(name="shop.example", kind="A", answer="10.0.0.1")
    call = LlmCall(
        exchange="m1",
        family="openai_chat",
        url="https://llm.example/",
        model="m",
        step=1,
        began=0.0,
        messages=[{"role": "user", "content": "…"}],
        tools=[{}],
        stream=False,
        status=200,
        answer="",
        input_tokens=1,
        output_tokens=1,
        usage="reported",
        latency_s=0.1,
        first_token_s=None,
        complete=True,
    )
    with TraceWriter(tmp_path / "events.jsonl", fixed_clock()) as trace:
        for event in (DELIVERED, name, call, DELIVERED):
            trace.write(event)

    lean = read_trace(tmp_path / "events.jsonl", lean=True)

    assert [entry.seq for entry in lean.entries] == [1, 3, 4]
    assert lean.events(LlmCall) == (msgspec.structs.replace(call, messages=None, tools=None),)
    assert read_trace(tmp_path / "events.jsonl").events(Dns) == (name,)


def test_a_lean_reading_misses_no_damage(path: Path) -> None:
    full = path.read_bytes()
    path.write_bytes(full.replace(b"\n", b"\nrubbish\n", 1))
    with pytest.raises(TraceError, match=r":2: this is not a line of JSON"):
        read_trace(path, lean=True)


def test_a_lone_surrogate_is_read_as_it_was_written(path: Path) -> None:
    change_line(path, 2, reason="half \ud83d")
    assert read_trace(path).events(HarnessBroke)[0].reason == "half \ud83d"
