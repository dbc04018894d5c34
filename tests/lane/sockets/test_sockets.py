"""The WebSockets of a trial; over sockets in tests/proxy/exchanges."""

from pathlib import Path
from typing import Any

from tests.lane.support.played import Trial, answer, headers
from tests.proxy.support.lanes import configured, scenario
from warex.engine.handler import Exchange, ExchangeTimings, Happened, Outcome
from warex.engine.http.heads import ResponseHead
from warex.engine.http.websocket import Frame
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.traces import FaultDelivered, FaultMissed, WebSocketSeen, Witness

SWITCHED = headers(upgrade="websocket", connection="upgrade")


def opened(trial: Trial, fault: Any = None) -> Exchange:
    exchange = trial.exchange("https://shop.test/ws", "GET", None, 0, upgrade="websocket")
    trial.lane.request_head(exchange)
    exchange.request_body = b""
    trial.lane.request(exchange)
    exchange.response = ResponseHead(101, b"", "HTTP/1.1", SWITCHED)
    trial.lane.response(exchange)
    timings = ExchangeTimings(started=0, ended=0)
    trial.lane.ended(
        exchange, Outcome(end="complete", head_sent=True, arrived=True, timings=timings)
    )
    return exchange


def trial_of(fault: WebsocketFault | None) -> Trial:
    return Trial(configured(ca=Path("unused"), scenario=None if fault is None else scenario(fault)))


def play(trial: Trial, exchange: Exchange, text: bytes, *, arrived: bool = True) -> None:
    """Play a message of the site, and that what it becomes has left."""
    for step in trial.lane.frame(exchange, Frame(1, text), from_client=False):
        if isinstance(step, Happened):
            trial.lane.steps_done(exchange, step.note, arrived=arrived)


def test_frames_are_changed_only_where_a_rule_says_so() -> None:
    trial = trial_of(None)
    exchange = opened(trial)
    assert trial.lane.wants_frames(exchange) == "read"
    trial = trial_of(WebsocketFault(action="drop"))
    exchange = opened(trial)
    assert trial.lane.wants_frames(exchange) == "change"


def test_the_first_hit_is_the_delivery_and_each_further_one_a_witness() -> None:
    trial = trial_of(WebsocketFault(action="drop"))
    exchange = opened(trial)
    play(trial, exchange, b"gone", arrived=False)
    assert not trial.all(FaultDelivered)
    for text in (b"one", b"two", b"three"):
        play(trial, exchange, text)
    trial.lane.upgrade_closed(exchange, by_client=True)

    (delivered,) = trial.all(FaultDelivered)
    assert [it.before for it in delivered.changes] == ["one"]
    assert [it.changes[0].before for it in trial.all(Witness)] == ["two", "three"]
    assert not trial.all(FaultMissed)


def test_a_websocket_without_a_hit_has_missed_it_also_at_the_trials_end() -> None:
    trial = trial_of(WebsocketFault(action="drop", text="x"))
    first, second = opened(trial), opened(trial)
    play(trial, first, b"one")
    trial.lane.upgrade_closed(first, by_client=True)
    trial.lane.finish()
    trial.lane.upgrade_closed(second, by_client=False)

    assert [it.reason for it in trial.all(FaultMissed)] == ["nothing_to_rewrite", "trial_over"]


def test_a_handshake_that_the_site_does_not_take_has_missed_it() -> None:
    trial = trial_of(WebsocketFault(action="drop"))
    trial.ask(lambda head, body: answer(b"no", 400), "https://shop.test/ws", upgrade="websocket")

    assert [it.reason for it in trial.all(FaultMissed)] == ["nothing_to_rewrite"]


def test_who_leaves_a_held_message_has_met_it_after_a_second() -> None:
    for seconds, count in ((0.5, 0), (1.5, 1)):
        trial = trial_of(WebsocketFault(action="delay", seconds=9))
        exchange = opened(trial)
        list(trial.lane.frame(exchange, Frame(1, b"late"), from_client=False))
        trial.engine.advance(seconds)
        trial.lane.upgrade_closed(exchange, by_client=True)

        delivered = trial.all(FaultDelivered)
        assert [(it.client_left, it.waited_s) for it in delivered] == [(True, 1.5)] * count
        assert [it.reason for it in trial.all(FaultMissed)] == ["client_gone"] * (1 - count)


def test_a_close_frame_of_a_fault_is_recorded() -> None:
    trial = trial_of(WebsocketFault(code=4000))
    exchange = opened(trial)
    (ends,) = trial.lane.frame(exchange, Frame(1, b"one"), from_client=False)
    trial.lane.steps_done(exchange, ends.note, arrived=True)  # type: ignore[union-attr]
    trial.lane.upgrade_closed(exchange, by_client=True)

    closed = [it for it in trial.all(WebSocketSeen) if it.what == "closed"]
    assert [it.close_code for it in closed] == [4000]
    assert trial.all(FaultDelivered)[0].changes[0].after == "closed with 4000"
