"""A lane has borne a case only where the trace has every answer and no trial is void."""

from pathlib import Path
from typing import Any, Literal

import pytest
from bench.fuzz.cases import SITE_STATUS, Case, Door, case
from bench.fuzz.check import borne, disagreements
from bench.fuzz.wire import Heard
from bench.workspace import Setting

from warex.clock import Clock
from warex.traces import (
    HarnessBroke,
    RequestRefused,
    ResponseSeen,
    Timings,
    TraceWriter,
    TrialEnded,
)

END = TrialEnded(exchanges=1, delivered=0, missed=0)


def _response(status: int, by: Literal["site", "warex", "nobody"]) -> ResponseSeen:
    return ResponseSeen(
        exchange="x1", status=status, resource="other", by=by, size=0, timings=Timings(total=1)
    )


def _heard(*statuses: int, data: bytes = b"", door: Door = "http/1.1") -> Heard:
    return Heard(Case(1, "http1-request", door, b"", b""), data, list(statuses))


def _wrong(folder: Path, heard: Heard, *events: Any) -> list[str]:
    path = folder / "events.jsonl"
    with TraceWriter(path, Clock()) as writer:
        for event in events:
            writer.write(event)
    return list(disagreements([heard], path))


def test_an_answer_of_the_site_that_the_trace_has_is_borne(tmp_path: Path) -> None:
    assert not _wrong(tmp_path, _heard(SITE_STATUS), _response(SITE_STATUS, "site"), END)


def test_an_answer_of_ours_that_the_trace_has_is_borne(tmp_path: Path) -> None:
    assert not _wrong(tmp_path, _heard(400), _response(400, "warex"), END)


def test_a_refused_request_that_the_trace_has_is_borne(tmp_path: Path) -> None:
    refused = RequestRefused(connection="c1", status=400, line="GET", reason="no path")

    assert not _wrong(tmp_path, _heard(400), refused, END)


def test_an_answer_that_the_trace_lacks_is_not(tmp_path: Path) -> None:
    assert _wrong(tmp_path, _heard(400), END)


def test_an_answer_that_the_site_never_gave_is_not(tmp_path: Path) -> None:
    assert _wrong(tmp_path, _heard(400), _response(400, "site"), END)


def test_an_odd_answer_that_comes_as_the_site_gave_it_may_be_read_otherwise(
    tmp_path: Path,
) -> None:
    odd = b"HTTP/1.1 999 Odd\r\n\r\n"
    case = Case(1, "http1-answer", "http/1.1", b"", odd, honest=False)

    assert not _wrong(tmp_path, Heard(case, odd, [999]), _response(200, "site"), END)
    (tmp_path / "events.jsonl").unlink()
    assert _wrong(tmp_path, Heard(case, odd, [999]), END)


def test_an_answer_that_names_mitmproxy_is_not(tmp_path: Path) -> None:
    named = _heard(400, data=b"Server: MitmProxy 12")

    assert _wrong(tmp_path, named, _response(400, "warex"), END)


def test_a_void_trial_and_one_without_an_end_are_not(tmp_path: Path) -> None:
    assert _wrong(tmp_path, _heard(), HarnessBroke(reason="a bug"), END)
    (tmp_path / "events.jsonl").unlink()
    assert _wrong(tmp_path, _heard(), _response(SITE_STATUS, "site"))


def test_what_the_control_port_answers_is_no_exchange(tmp_path: Path) -> None:
    assert not _wrong(tmp_path, _heard(405, door="control"), END)


@pytest.mark.wire
def test_a_lane_bears_mutated_messages(place: Setting) -> None:
    # Those that may name any host are for the command, which first leaves the network.
    numbers = [number for number in range(1, 40) if not case(1, number).names_hosts]

    assert not borne(place, 1, numbers)
