"""What is known of an exchange under way."""

from mitmproxy.test import tflow

from tests.proxy.support.tasks import make_task
from warex.exchange import Exchange, Request
from warex.faults.server.http_error import HttpError
from warex.lane.traffic.base import Traffic
from warex.proxy.exchange.apply import AppliedInjection
from warex.proxy.exchange.state import ExchangeState, attach, state_of
from warex.scenarios import PlannedInjection


def state() -> ExchangeState:
    exchange = Exchange("x1", Request("GET", "https://shop.example/"))
    return ExchangeState(Traffic(exchange), "document", "c1", make_task())


def test_a_flow_that_began_before_us_is_unknown() -> None:
    assert state_of(tflow.tflow()) is None


def test_what_is_known_stays_with_its_flow() -> None:
    flow, known = tflow.tflow(), state()
    attach(flow, known)
    assert state_of(flow) is known


def test_only_a_reply_awaits_its_sending() -> None:
    known = state()
    assert not known.awaits_sending
    injection = PlannedInjection("i1", "x1", "r", HttpError(), "", 1, ())
    known.applied.append(AppliedInjection(injection, cut=True))
    assert not known.awaits_sending
    known.applied.append(AppliedInjection(injection, replied=True))
    assert known.awaits_sending
