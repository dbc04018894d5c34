"""Sites' responses on mitmproxy's flows, without a wire."""

from mitmproxy import http
from mitmproxy.test import tflow

from tests.lane.support.traffic import fields as fields_of
from tests.proxy.support.lanes import scenario
from tests.proxy.support.tasks import make_task
from warex.clock import Clock
from warex.exchange import Exchange
from warex.faults import Popup
from warex.lane.record.recorder import Recorder
from warex.lane.traffic.base import Traffic
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import AppliedInjection
from warex.proxy.exchange.site_responses import SiteResponses
from warex.proxy.exchange.state import ExchangeState
from warex.scenarios import Injector, Trigger

POPUP = scenario(Popup(), Trigger(always=True))
HEAD = {"sec_fetch_dest": "document", "accept": "text/html"}


def settle(state: ExchangeState, applied: AppliedInjection, met: bool) -> None:
    raise AssertionError("nothing is reported")


def page(**headers: str) -> tuple[http.HTTPFlow, ExchangeState]:
    flow = tflow.tflow(resp=True)
    fields = fields_of(**HEAD, **headers).fields
    flow.request = http.Request.make("GET", "https://shop.test/", headers=fields)
    assert flow.response is not None
    flow.response.headers = http.Headers(content_type="text/html", etag='"1"')
    injector = Injector(POPUP, 0)
    exchange = Exchange("x1", flows.request_of(flow))
    task = make_task()
    task.injector = injector
    state = ExchangeState(Traffic(exchange), "document", "c1", task)
    state.pending = list(injector.request(exchange, 0.0, llm=False).injections)
    return flow, state


def test_a_request_that_may_be_rewritten_asks_for_a_complete_and_readable_page() -> None:
    flow, state = page(if_none_match="x", accept_encoding="gzip, dcb, br;q=0.5")
    responses = SiteResponses(POPUP.rules, Recorder(Clock()), settle)
    responses.prepare_request(flow, state)

    assert state.may_be_rewritten
    assert "if-none-match" not in flow.request.headers
    assert flow.request.headers["accept-encoding"] == "gzip, br;q=0.5"


def test_a_page_is_rewritten_as_it_streams() -> None:
    flow, state = page()
    responses = SiteResponses(POPUP.rules, Recorder(Clock()), settle)
    assert flow.response is not None
    responses.read_streamed(flow.response, state)
    responses.rewrite_streamed(flow, flow.response, state)

    sent = b"".join([*state.tee(b"<head></head><p>text"), *state.tee(b"")])
    assert b"<head><script>" in sent
    assert dict(flow.response.headers) == {
        "content-type": "text/html",
        "cache-control": "no-store",
        "transfer-encoding": "chunked",
    }
    (applied,) = state.applied
    assert applied.outlives_exchange(arrived=True)
    assert not state.pending
