"""A lane survives a case only if the trace has every answer and no trial is void."""

from pathlib import Path
from typing import Any, Literal

import pytest
from bench.fuzz.cases import SITE_STATUS, Case, Channel, case
from bench.fuzz.check import disagreements, find_errors
from bench.fuzz.wire import Received
from bench.workspace import Workspace

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


def _response(status: int, by: Literal["site", "warex", "none"]) -> ResponseSeen:
    return ResponseSeen(
        exchange="x1", status=status, resource="other", by=by, size=0, timings=Timings(total=1)
    )


def _received(*statuses: int, data: bytes = b"", channel: Channel = "http/1.1") -> Received:
    return Received(Case(1, "http1-request", channel, b"", b""), data, list(statuses))


def _errors(folder: Path, received: Received, *events: Any) -> list[str]:
    path = folder / "events.jsonl"
    with TraceWriter(path, Clock()) as writer:
        for event in events:
            writer.write(event)
    return list(disagreements([received], path))


def test_a_recorded_answer_of_the_site_passes_the_check(tmp_path: Path) -> None:
    assert not _errors(tmp_path, _received(SITE_STATUS), _response(SITE_STATUS, "site"), END)


def test_a_recorded_answer_of_warex_passes_the_check(tmp_path: Path) -> None:
    assert not _errors(tmp_path, _received(400), _response(400, "warex"), END)


def test_a_recorded_refusal_passes_the_check(tmp_path: Path) -> None:
    refused = RequestRefused(connection="c1", status=400, line="GET", reason="no path")

    assert not _errors(tmp_path, _received(400), refused, END)


def test_an_unrecorded_answer_fails_the_check(tmp_path: Path) -> None:
    assert _errors(tmp_path, _received(400), END)


def test_an_answer_that_the_site_never_gave_fails_the_check(tmp_path: Path) -> None:
    assert _errors(tmp_path, _received(400), _response(400, "site"), END)


def test_an_odd_answer_may_pass_unchanged(
    tmp_path: Path,
) -> None:
    odd = b"HTTP/1.1 999 Odd\r\n\r\n"
    case = Case(1, "http1-answer", "http/1.1", b"", odd, valid_answer=False)

    assert not _errors(tmp_path, Received(case, odd, [999]), _response(200, "site"), END)
    (tmp_path / "events.jsonl").unlink()
    assert _errors(tmp_path, Received(case, odd, [999]), END)


def test_an_answer_that_names_warex_fails_the_check(tmp_path: Path) -> None:
    named = _received(400, data=b"Server: WAREX")

    assert _errors(tmp_path, named, _response(400, "warex"), END)


def test_an_answer_without_a_status_fails_the_check(tmp_path: Path) -> None:
    received = _received()
    received.unreadable.append(b"2x0")

    assert _errors(tmp_path, received, END) == ["case 1: the answer's status is b'2x0'"]


def test_a_void_or_unfinished_trial_fails_the_check(tmp_path: Path) -> None:
    assert _errors(tmp_path, _received(), HarnessBroke(reason="a bug"), END)
    (tmp_path / "events.jsonl").unlink()
    assert _errors(tmp_path, _received(), _response(SITE_STATUS, "site"))


def test_what_the_control_port_answers_is_not_an_exchange(tmp_path: Path) -> None:
    assert not _errors(tmp_path, _received(405, channel="control"), END)


@pytest.mark.wire
def test_a_lane_survives_mutated_messages(workspace: Workspace) -> None:
    # Those that may name any host are for the command, which first leaves the network.
    numbers = [number for number in range(1, 40) if not case(1, number).may_name_any_host]

    assert not find_errors(workspace, 1, numbers)
