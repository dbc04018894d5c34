"""What is known of an exchange under way."""

from mitmproxy.test import tflow

from tests.proxy.support.tasks import a_task
from warex.exchange import Exchange, Request
from warex.faults.server.http_error import HttpError
from warex.proxy.exchange.apply import Struck
from warex.proxy.exchange.state import Ongoing, attach, ongoing_of
from warex.scenarios import Injection


def ongoing() -> Ongoing:
    exchange = Exchange("x1", Request("GET", "https://shop.example/"))
    return Ongoing(exchange, "document", "c1", a_task())


def test_a_flow_that_began_before_us_is_unknown() -> None:
    assert ongoing_of(tflow.tflow()) is None


def test_what_is_known_stays_with_its_flow() -> None:
    flow, known = tflow.tflow(), ongoing()
    attach(flow, known)
    assert ongoing_of(flow) is known


def test_only_a_reply_awaits_its_sending() -> None:
    known = ongoing()
    assert not known.awaits_sending
    injection = Injection("i1", "x1", "r", HttpError(), "", 1, ())
    known.struck.append(Struck(injection, cut=True))
    assert not known.awaits_sending
    known.struck.append(Struck(injection, replied=True))
    assert known.awaits_sending
