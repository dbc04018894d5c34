"""The WebSockets of a trial; over sockets in tests/proxy/exchanges."""

from pathlib import Path
from typing import Any

from tests.lane.support.played import Trial, answer, headers
from tests.proxy.support.lanes import configured, scenario
from warex.engine.handler import (
    AwaitRate,
    Exchange,
    ExchangeTimings,
    FrameStep,
    Happened,
    Outcome,
)
from warex.engine.http.heads import ResponseHead
from warex.engine.http.websocket import Frame
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.faults.transport.bandwidth import Bandwidth
from warex.scenarios import Scenario
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


def test_leaving_a_held_message_after_a_second_counts_as_a_hit() -> None:
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


def limited(fault: Bandwidth) -> Trial:
    return Trial(configured(ca=Path("unused"), scenario=scenario(fault)))


def frames(trial: Trial, exchange: Exchange, *, from_client: bool) -> list[FrameStep]:
    return [*trial.lane.frame(exchange, Frame(1, b"hello"), from_client=from_client)]


def test_frames_wait_at_the_rate_of_their_direction_and_a_shared_limit() -> None:
    trial = limited(Bandwidth(down=500))
    one, other = opened(trial), opened(trial)
    assert trial.lane.wants_frames(one) == "change"
    waits = [frames(trial, it, from_client=False)[0] for it in (one, other)]
    first, second = (it for it in waits if isinstance(it, AwaitRate))

    assert (first.size, first.limits) == (5, second.limits)
    assert frames(trial, one, from_client=True) == [Frame(1, b"hello")]
    (ping,) = trial.lane.frame(one, Frame(9, b"x"), from_client=False)
    assert ping == Frame(9, b"x")


def test_a_rate_is_delivered_with_the_first_message_of_its_direction() -> None:
    trial = limited(Bandwidth(up=500))
    exchange = opened(trial)
    play(trial, exchange, b"down")
    assert not trial.all(FaultDelivered)
    for step in frames(trial, exchange, from_client=True):
        if isinstance(step, Happened):
            trial.lane.steps_done(exchange, step.note, arrived=True)
    assert len(trial.all(FaultDelivered)) == 1
    assert [type(it) for it in frames(trial, exchange, from_client=True)] == [AwaitRate, Frame]
    trial.lane.upgrade_closed(exchange, by_client=True)
    assert len(trial.all(FaultDelivered)) == 1


def test_a_websocket_without_a_message_has_missed_a_rate() -> None:
    trial = limited(Bandwidth(down=500))
    trial.lane.upgrade_closed(opened(trial), by_client=True)

    assert [it.reason for it in trial.all(FaultMissed)] == ["nothing_to_rewrite"]


def test_leaving_during_the_first_hold_is_client_gone() -> None:
    trial = limited(Bandwidth(down=1))
    exchange = opened(trial)
    frames(trial, exchange, from_client=False)
    trial.lane.upgrade_closed(exchange, by_client=True)

    assert [it.reason for it in trial.all(FaultMissed)] == ["client_gone"]


def test_messages_that_a_fault_repeats_wait_at_the_rate_too() -> None:
    (twice,) = scenario(WebsocketFault(action="duplicate")).rules
    (slow,) = scenario(Bandwidth(down=500)).rules
    rules = (twice, slow.model_copy(update={"name": "slow"}))
    trial = Trial(configured(ca=Path("unused"), scenario=Scenario(name="both", rules=rules)))
    exchange = opened(trial)

    steps = frames(trial, exchange, from_client=False)
    assert [type(it) for it in steps if not isinstance(it, Happened)] == [AwaitRate, Frame] * 2
