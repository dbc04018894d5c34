"""What effects make of an exchange."""

import gzip

import msgspec
import pytest

from tests.lane.support.played import answer
from tests.lane.support.states import open_exchange
from warex.clock import Clock
from warex.effects import (
    Cut,
    Delay,
    DnsError,
    DuplicateRequest,
    Effect,
    ReplayFirst,
    Reply,
    Trickle,
    Truncate,
)
from warex.engine.handler import Abort, Forward, Plan, Relay, Respond
from warex.faults.server.http_error import HttpError
from warex.lane.plan import EffectApplier, request_plan, response_plan
from warex.lane.record.recorder import Recorder
from warex.lane.response_faults.previous_responses import PreviousResponses
from warex.lane.response_faults.rewritten_pages import RewrittenPages
from warex.lane.state import AppliedInjection, ExchangeState
from warex.lane.whole_response import WholeResponse
from warex.scenarios import PlannedInjection

REPLY = Reply(503, {"content-type": "text/html"}, b"<p>no")
PAGE = WholeResponse(*answer(bytes(range(64))))
KIND = {"content-type": "text/event-stream"}
EVENTS = tuple(b"data: %d\n\n" % number for number in range(4))


def applied(state: ExchangeState, *effects: Effect) -> AppliedInjection:
    """Apply effects to an exchange."""
    planned = PlannedInjection("i1", "x1", "rule", HttpError(), "", 1, effects)
    rewritten = RewrittenPages((), Recorder(Clock()), lambda exchange, injection: None)
    hit = AppliedInjection(planned)
    applier = EffectApplier(PreviousResponses(()), rewritten, lambda state, applied, arrived: None)
    applier.apply(state, hit)
    return hit


def requested(state: ExchangeState) -> Plan[Forward | Respond | Abort]:
    return request_plan(state.draft, None, state.wire.request)


def answered(
    *effects: Effect, of: WholeResponse = PAGE
) -> tuple[Plan[Relay | Respond | Abort], AppliedInjection]:
    state = open_exchange()
    state.draft.response = of
    hit = applied(state, *effects)
    return response_plan(state.draft, of), hit


def test_without_an_effect_everything_passes_as_it_came() -> None:
    assert requested(open_exchange()) == Plan(Forward())
    assert answered()[0] == Plan(Relay())


def test_holds_come_first_in_their_order() -> None:
    state = open_exchange()
    applied(state, Delay(1))
    applied(state, Delay(2), REPLY)

    plan = requested(state)

    assert plan.hold_s == (1, 2)
    assert isinstance(plan.then, Respond)
    assert (plan.then.status, plan.then.pieces) == (503, (b"<p>no",))
    assert plan.then.headers.get("content-length") == "5"


def test_a_reply_to_head_says_how_long_the_body_would_be() -> None:
    state = open_exchange("HEAD")
    applied(state, REPLY)

    plan = requested(state).then

    assert isinstance(plan, Respond)
    assert (plan.pieces, plan.headers.get("content-length")) == ((), "5")


@pytest.mark.parametrize(
    ("sent", "body"),
    [(b'{"a": 1}', b'{"a": 1, "b": 2}'), (b"[1]", b'{"b": 2}'), (b"", b'{"b": 2}')],
)
def test_an_echo_adds_to_the_object_that_was_sent(sent: bytes, body: bytes) -> None:
    state = open_exchange("POST")
    state.wire.request_body = sent
    applied(state, Reply(201, {}, b'{"b": 2}', echo_json=True))

    plan = requested(state).then

    assert isinstance(plan, Respond)
    assert b"".join(plan.pieces) == body


def test_each_cookie_of_a_reply_has_a_field_of_its_own() -> None:
    state = open_exchange()
    applied(state, msgspec.structs.replace(REPLY, cookies=("a=1", "b=2")))

    plan = requested(state).then

    assert isinstance(plan, Respond)
    assert plan.headers.get_all("set-cookie") == ["a=1", "b=2"]


def test_a_cut_ends_the_exchange() -> None:
    state = open_exchange()
    hit = applied(state, Delay(1), Cut("reset"))

    assert requested(state) == Plan(Abort("reset"), (1,))
    assert hit.is_cut
    assert state.by_warex


def test_a_copy_of_the_request_is_sent_before_it() -> None:
    state = open_exchange("POST")
    applied(state, DuplicateRequest())

    assert requested(state) == Plan(Forward(copies=1))
    assert not state.by_warex


def test_a_trickle_sends_the_whole_body_in_pieces() -> None:
    plan, hit = answered(Trickle(0.5))

    assert isinstance(plan.then, Respond)
    assert (len(plan.then.pieces), plan.then.pause_s, plan.then.cut) == (16, 0.5, None)
    assert b"".join(plan.then.pieces) == PAGE.body
    assert hit.is_answer


@pytest.mark.parametrize(
    ("how", "length", "cut"), [("clean", "32", None), ("close", "64", "close")]
)
def test_a_truncated_body_says_the_whole_length_only_if_it_is_cut(
    how: str, length: str, cut: str | None
) -> None:
    plan, _ = answered(Truncate(0.5, how))  # type: ignore[arg-type]

    assert isinstance(plan.then, Respond)
    assert b"".join(plan.then.pieces) == PAGE.body[:32]
    assert (plan.then.headers.get("content-length"), plan.then.cut) == (length, cut)


@pytest.mark.parametrize(
    ("share", "retained"), [(0.0, 1), (0.25, 1), (0.5, 2), (0.74, 2), (0.75, 3), (0.99, 3)]
)
def test_a_cut_stream_has_its_first_event_but_not_its_last(share: float, retained: int) -> None:
    plan, _ = answered(Truncate(share, "close"), of=WholeResponse.make(200, KIND, b"".join(EVENTS)))

    assert isinstance(plan.then, Respond)
    assert plan.then.pieces == EVENTS[:retained]


def test_a_compressed_stream_is_divided_into_its_events() -> None:
    coded = {**KIND, "content-encoding": "gzip"}
    body = gzip.compress(b"".join(EVENTS))
    plan, _ = answered(Trickle(0.5), of=WholeResponse.make(200, coded, body))

    assert isinstance(plan.then, Respond)
    assert plan.then.pieces == EVENTS
    assert plan.then.headers.get("content-encoding") == ""


def test_a_truncated_body_trickles_if_a_later_fault_says_so() -> None:
    state = open_exchange()
    state.draft.response = PAGE
    applied(state, Truncate(0.5, "close"))
    applied(state, Trickle(0.1))

    plan = response_plan(state.draft, PAGE).then

    assert isinstance(plan, Respond)
    assert (len(plan.pieces), plan.pause_s, plan.cut) == (8, 0.1, "close")


def test_without_an_earlier_response_there_is_nothing_to_replay() -> None:
    state = open_exchange()
    hit = applied(state, ReplayFirst())

    assert requested(state) == Plan(Forward())
    assert hit.changed_nothing


def test_what_comes_before_an_exchange_cannot_be_applied_to_it() -> None:
    with pytest.raises(TypeError, match="before there is an exchange"):
        applied(open_exchange(), DnsError("nxdomain"))
