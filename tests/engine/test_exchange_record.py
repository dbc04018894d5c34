from dataclasses import dataclass

import pytest

from warex.clock import Clock
from warex.engine.exchange_record import ExchangeRecord, Over


@dataclass
class Hands:
    at: float = 0.0

    def now(self) -> float:
        return self.at


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def record(hands: Hands) -> ExchangeRecord:
    return ExchangeRecord(Clock(hands.now, lambda: 1000 + hands.at), started=1000.0)


def test_holds_add_up(record: ExchangeRecord, hands: Hands) -> None:
    for seconds in (1, 2):
        record.begin_hold()
        hands.at += seconds
        record.end_hold()
        hands.at += 10
    outcome = record.outcome(Over("complete"), 0, None)
    assert (outcome.held_s, outcome.left_while_held) == (3, False)
    assert outcome.timings.ended == 1023


@pytest.mark.parametrize(("end", "left"), [("client_left", True), ("shut_down", False)])
def test_an_end_within_a_hold_counts_what_was_held(
    record: ExchangeRecord, hands: Hands, end: str, left: bool
) -> None:
    record.begin_hold()
    hands.at += 4
    outcome = record.outcome(Over(end, "why"), 5, 1001.0)  # type: ignore[arg-type]
    assert (outcome.held_s, outcome.left_while_held, outcome.error) == (4, left, "why")
    assert (outcome.request_bytes, outcome.timings.request_complete) == (5, 1001.0)


def test_a_response_begins_once(record: ExchangeRecord, hands: Hands) -> None:
    for at in (1, 2):
        hands.at = at
        record.response_begins()
    assert record.outcome(Over("complete"), 0, None).timings.response_started == 1001


def test_a_client_meets_what_the_network_would_show(record: ExchangeRecord) -> None:
    failed, left = Over("site_failed"), Over("client_left")
    assert record.how_it_breaks(failed, refuses=True, has_streams=False) == "close"
    record.hints_sent = True
    assert record.how_it_breaks(failed, refuses=False, has_streams=False) == "reset"
    assert record.how_it_breaks(failed, refuses=False, has_streams=True) == "close"
    record.head_sent, record.unreachable = True, "connection_refused"
    assert record.how_it_breaks(failed, refuses=True, has_streams=True) == "reset"
    assert record.how_it_breaks(failed, refuses=False, has_streams=True) == "close"
    assert record.how_it_breaks(left, refuses=True, has_streams=True) == "close"
