from urllib.parse import urlsplit

import pytest

from tests.lane.support.played import answer
from tests.lane.support.states import open_exchange
from warex.clock import Clock
from warex.engine.handler import ExchangeTimings, Outcome, Relay
from warex.lane.ending import ended_response, ending_of, unreachable_message
from warex.lane.record.recorder import Recorder
from warex.lane.state import ExchangeState
from warex.lane.whole_response import WholeResponse
from warex.traces import ResponseSeen

SITE = urlsplit("https://shop.test:8443")
AT = ExchangeTimings(started=0.0, ended=1.0)


def recorded(state: ExchangeState, outcome: Outcome, error: str | None = None) -> ResponseSeen:
    return ended_response(state, outcome, ending_of(state, outcome, error), Recorder(Clock()))


@pytest.mark.parametrize(
    ("upstream", "reason", "message"),
    [
        (None, "refused", "https://shop.test:8443 cannot be reached: refused"),
        (
            "http://user:secret@proxy.test:3128",
            "refused",
            "https://shop.test:8443 cannot be reached (the upstream proxy is proxy.test:3128):"
            " refused",
        ),
        (
            None,
            "Certificate verify failed",
            "https://shop.test:8443 cannot be reached: Certificate verify failed; --insecure"
            " accepts such a certificate",
        ),
    ],
)
def test_unreachable_sites_are_reported_with_a_remedy(
    upstream: str | None, reason: str, message: str
) -> None:
    assert unreachable_message(SITE, upstream, reason) == message


@pytest.mark.parametrize(("head_sent", "status"), [(True, 200), (False, None)])
def test_a_response_that_breaks_off_counts_once_its_head_was_sent(
    head_sent: bool, status: int | None
) -> None:
    state = open_exchange()
    state.answer, state.plan = answer()[0], Relay()
    outcome = Outcome(
        end="client_left", timings=AT, head_sent=head_sent, response_bytes=12 * head_sent
    )

    event = recorded(state, outcome, "left")

    assert (event.status, event.size) == (status, 12 * head_sent)
    assert event.by == ("site" if status else "none")


def test_a_planned_response_is_recorded_with_its_whole_size() -> None:
    state = open_exchange()
    response = WholeResponse.make(503, {}, b"12345678")
    state.draft.response, state.answer, state.by_warex = response, response.head, True
    state.draft.pieces = [b"12", b"34"]
    outcome = Outcome(end="aborted", timings=AT, arrived=True, response_bytes=3)

    assert (recorded(state, outcome).size, recorded(state, outcome).by) == (8, "warex")
    assert ending_of(state, outcome, None).body == b"123"
    assert ending_of(state, outcome, None).in_part


def test_a_kept_answer_is_the_caches() -> None:
    state = open_exchange()
    state.answer, state.from_cache = answer()[0], True

    assert recorded(state, Outcome(end="complete", timings=AT, head_sent=True)).by == "cache"
