"""How effects have a body sent, and which of them it was too short for."""

from math import inf

import pytest

from tests.lane.support.played import answer
from tests.lane.support.states import open_exchange
from tests.lane.test_plan import answered, applied
from warex.effects import Cut, Delay, Effect, Reply, Stall, Throttle, Trickle, Truncate
from warex.engine.handler import ExchangeTimings, Outcome, Pace, Relay, Stop
from warex.engine.http.heads import Headers, ResponseHead
from warex.faults.server.http_error import HttpError
from warex.lane.sending.body_pace import can_relay, first_part, length_of, note_unmet, pace_of
from warex.lane.whole_response import WholeResponse
from warex.scenarios import PlannedInjection

PAGE = WholeResponse(*answer(bytes(100)))


def outcome(end: str = "complete", **facts: int) -> Outcome:
    return Outcome(end=end, timings=ExchangeTimings(started=0, ended=1), **facts)  # type: ignore[arg-type]


def paced(*effects: Effect) -> Pace | None:
    """Return the pace of a body of a hundred bytes."""
    plan = answered(*effects, of=PAGE)[0].then
    assert isinstance(plan, Relay)
    return plan.pace


@pytest.mark.parametrize(
    ("effect", "stop"),
    [
        (Stall(2, 0.25, "share"), Stop(25, 2)),
        (Stall(2, 7, "bytes"), Stop(7, 2)),
        (Truncate(0.5, "close", "share"), Stop(50, 0, "close")),
        (Truncate(0, "reset", "bytes", inf), Stop(0, inf, "reset")),
    ],
)
def test_a_place_in_a_body_is_a_number_of_its_bytes(effect: Effect, stop: Stop) -> None:
    assert paced(effect) == Pace(stops=(stop,))


@pytest.mark.parametrize(
    ("share", "length", "size"), [(0.5, 100, 50), (0.001, 100, 1), (0.999, 100, 99), (0.5, 1, None)]
)
def test_a_share_has_the_first_byte_but_never_the_last(
    share: float, length: int, size: int | None
) -> None:
    assert first_part(share, length) == size


def test_pieces_are_of_one_size() -> None:
    assert paced(Trickle(0.5, pieces=7)) == Pace(piece=15, pause_s=0.5)
    assert paced(Trickle(0.5, piece_bytes=9)) == Pace(piece=9, pause_s=0.5)


def test_stops_are_reached_in_the_order_of_their_places() -> None:
    both = (Truncate(50, "close", "bytes"), Stall(2, 10, "bytes"))
    assert paced(*both) == Pace(stops=(Stop(10, 2), Stop(50, 0, "close")))


def test_what_comes_behind_the_end_or_the_body_is_unmet() -> None:
    state = open_exchange()
    cut = applied(state, Truncate(50, "close", "bytes"))
    behind = applied(state, Stall(2, 60, "bytes"))
    outside = applied(state, Stall(2, 100, "bytes"))
    assert pace_of(state.draft, 100) == Pace(stops=(Stop(50, 0, "close"),))
    assert [it.is_unmet for it in (cut, behind, outside)] == [False, True, True]


def test_a_stop_that_a_complete_body_did_not_reach_is_unmet() -> None:
    state = open_exchange()
    stalls = [applied(state, Stall(2, at, "bytes")) for at in (10, 1000)]
    assert pace_of(state.draft, None) == Pace(stops=(Stop(10, 2), Stop(1000, 2)))
    note_unmet(state, outcome(stops=1, response_bytes=500))
    assert [it.is_unmet for it in stalls] == [False, True]


def test_without_a_body_there_is_nothing_to_pace() -> None:
    for effect, end in ((Throttle(10, None), "complete"), (Cut("close"), "aborted")):
        state = open_exchange()
        limited, last = applied(state, Throttle(10, None)), applied(state, effect)
        state.applied = [limited, last]
        note_unmet(state, outcome(end))
        assert limited.is_unmet
        assert last.is_unmet == (effect.name == "throttle")


def test_a_client_that_leaves_has_not_shown_that_there_was_no_body() -> None:
    state = open_exchange()
    limited = applied(state, Throttle(10, None))
    state.applied = [limited]
    note_unmet(state, outcome("client_left"))
    assert not limited.is_unmet


@pytest.mark.parametrize(
    ("effects", "known", "unknown"),
    [
        ((Delay(1), Throttle(10, None)), True, True),
        ((Stall(1, 10, "bytes"), Trickle(1, piece_bytes=5)), True, True),
        ((Truncate(0.5, "close", "share"), Trickle(1, pieces=5)), True, False),
        ((Truncate(5, "clean", "bytes"),), False, False),
        ((Truncate(0.5, "close"),), False, False),
        ((Trickle(1),), False, False),
        ((Delay(1), Reply(500)), False, False),
    ],
)
def test_an_answer_is_relayed_where_its_length_is_known_or_does_not_matter(
    effects: tuple[Effect, ...], known: bool, unknown: bool
) -> None:
    planned = PlannedInjection("i1", "x1", "rule", HttpError(), "", 1, effects)
    assert (can_relay(planned, 100), can_relay(planned, None)) == (known, unknown)


@pytest.mark.parametrize(
    ("method", "status", "fields", "length"),
    [
        ("GET", 200, [("Content-Length", "12")], 12),
        ("GET", 200, [("Content-Length", "12"), ("Content-Length", "12")], 12),
        ("GET", 200, [("Content-Length", "12"), ("Content-Length", "13")], None),
        ("GET", 200, [("Transfer-Encoding", "chunked"), ("Content-Length", "12")], None),
        ("GET", 200, [], None),
        ("HEAD", 200, [("Content-Length", "12")], 0),
        ("GET", 204, [], 0),
    ],
)
def test_a_length_is_what_a_browser_takes_it_for(
    method: str, status: int, fields: list[tuple[str, str]], length: int | None
) -> None:
    head = ResponseHead(status, b"OK", "HTTP/1.1", Headers.of_text(fields))
    assert length_of(method, head) == length
