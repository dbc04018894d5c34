"""What a lane needs of an exchange, and in which order it is asked."""

import gzip
from typing import Any

from tests.lane.support.played import Trial, answer, trial
from tests.proxy.support.lanes import scenario
from warex.engine.handler import (
    ExchangeTimings,
    Forward,
    Outcome,
    Plan,
    ReadWhole,
    Rejection,
    Relay,
)
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.faults.popups.popup import Popup
from warex.faults.server.http_error import HttpError
from warex.scenarios import Rule, Scenario, Trigger
from warex.traces import FaultDelivered, FaultMissed, RequestSeen, ResponseSeen, Tunnel

PAGE = b"<!doctype html><html><head></head><body><p>Hello</p></body></html>"
DOCUMENT: dict[str, Any] = {"sec_fetch_dest": "document", "sec_fetch_mode": "navigate"}
AT = ExchangeTimings(started=0.0, ended=1.0)
LARGE = str(10 * 1024 * 1024)


def site(head: RequestHead, body: bytes) -> tuple[ResponseHead, bytes]:
    return answer(PAGE)


def needed(began: Trial, url: str = "https://shop.test/up", **fields: Any) -> str:
    exchange = began.exchange(url, "POST", began.connect("shop.test"), 0, **fields)
    return began.lane.request_head(exchange)


def test_a_body_is_needed_where_it_may_decide() -> None:
    of = scenario(HttpError(), match={"url": "*/pay"})
    with trial(scenario=of) as began:
        assert needed(began, content_length="10") == "whole"
        assert needed(began, content_length=LARGE) == "stream"
        assert needed(began, transfer_encoding="chunked") == "stream"
        assert needed(began, "https://shop.test/pay", content_length=LARGE) == "whole"
        grpc: dict[str, Any] = {"content_type": "application/grpc", "content_length": LARGE}
        assert needed(began, "https://shop.test/pay", **grpc) == "stream"
        model = "https://model.test/v1/chat/completions"
        assert needed(began, model, content_length=LARGE) == "whole"


def test_a_streamed_request_is_recorded_with_its_size_when_it_is_answered() -> None:
    with trial() as began:
        url = "https://shop.test/up"
        exchange = began.exchange(url, "POST", began.connect("shop.test"), 0, content_length=LARGE)
        assert began.lane.request_head(exchange) == "stream"
        assert began.lane.request(exchange) == Plan(Forward())
        assert not began.all(RequestSeen)
        exchange.request_bytes = 77
        exchange.response = answer(kind="application/json")[0]

        assert began.lane.response(exchange) == Plan(Relay())
        assert began.the(RequestSeen).size == 77


def test_an_unfinished_request_is_recorded_without_a_decision() -> None:
    with trial(scenario=scenario(HttpError())) as began:
        exchange = began.exchange("https://shop.test/", "POST", began.connect("shop.test"), 3)
        began.lane.request_head(exchange)
        began.lane.ended(exchange, Outcome(end="client_left", error="left", timings=AT))

    assert began.kinds()[-2:] == ["RequestSeen", "ResponseSeen"]
    assert began.the(ResponseSeen).error == "left"


def test_a_refused_request_is_not_an_exchange() -> None:
    with trial() as began:
        connection = began.connect("shop.test")
        exchange = began.exchange("https://shop.test/", "POST", connection, 3)
        began.lane.request_head(exchange)
        began.lane.rejected(connection, Rejection(400, b"POST /", "an invalid chunk"))
        began.lane.ended(exchange, Outcome(end="aborted", timings=AT))

    assert not began.all(RequestSeen)


def test_an_exchange_ends_once() -> None:
    with trial() as began:
        began.ask(site, **DOCUMENT)
        exchange = began.exchange("https://shop.test/", "GET", began.connect("shop.test"), 0)
        began.lane.request_head(exchange)
        exchange.request_body = b""
        began.lane.request(exchange)
        for _ in range(2):
            began.lane.ended(exchange, Outcome(end="complete", arrived=True, timings=AT))

    assert len(began.all(ResponseSeen)) == 2


def test_a_coded_page_that_a_rule_may_change_is_judged_by_its_beginning() -> None:
    with trial(scenario=scenario(Popup())) as began:
        exchange = began.exchange(
            "https://shop.test/", "GET", began.connect("shop.test"), 0, **DOCUMENT
        )
        began.lane.request_head(exchange)
        exchange.request_body = b""
        began.lane.request(exchange)
        coded = gzip.compress(PAGE)
        exchange.response, _ = answer(coded, content_encoding="gzip")

        assert began.lane.response(exchange) == Plan(ReadWhole(1))
        exchange.response_body = coded[:20]
        plan = began.lane.whole_response(exchange).then

        assert isinstance(plan, Relay)
        assert (plan.tap, plan.changes_length) == (True, True)
        assert plan.head is not None
        assert "content-encoding" not in plan.head.headers.by_name


def test_a_page_in_the_sites_place_is_changed_as_the_sites_would_be() -> None:
    once = Rule(name="down", trigger=Trigger(first=1), fault=HttpError(status=503))
    popup = Rule(name="popup", trigger=Trigger(always=True), fault=Popup())
    for rules in ((popup, once), (once, popup)):
        with trial(scenario=Scenario(name="two", rules=rules)) as began:
            first, second = (began.ask(site, **DOCUMENT) for _ in range(2))

        assert first.requests == []
        assert b"<script" in first.body
        assert first.body != second.body
        assert [event.rule for event in began.all(FaultDelivered)] == ["down"]
        assert [event.status for event in began.all(ResponseSeen)] == [503, 200]
        # Nobody runs the pages' scripts.
        assert [it.reason for it in began.all(FaultMissed)] == ["not_rendered"] * 2


def test_a_page_too_long_to_be_held_passes_without_the_fault() -> None:
    with trial(scenario=scenario(HttpError.model_validate({"stage": "response"}))) as began:
        exchange = began.exchange(
            "https://shop.test/", "GET", began.connect("shop.test"), 0, **DOCUMENT
        )
        began.lane.request_head(exchange)
        exchange.request_body = b""
        began.lane.request(exchange)
        exchange.response, exchange.response_body = answer(PAGE)
        assert isinstance(began.lane.response(exchange).then, ReadWhole)

        plan = began.lane.whole_response(exchange).then

        assert isinstance(plan, Relay)
        assert (plan.head, plan.changes_length) == (None, False)
    assert began.the(FaultMissed).reason == "nothing_to_rewrite"


def test_plain_http_to_a_host_that_is_passed_through_is_counted_only() -> None:
    with trial(pass_through=("bank.test",), scenario=scenario(HttpError())) as began:
        got = began.ask(site, "http://bank.test/a", method="POST", body=b"abc")

        assert got.body == PAGE
    tunnel = began.the(Tunnel)
    assert (tunnel.host, tunnel.port, tunnel.why) == ("bank.test", 80, "pass_through")
    assert tunnel.sent == len(b"POST /a HTTP/1.1\r\nuser-agent: Mozilla/5.0 Chrome/150\r\n\r\n") + 3
    assert not began.all(RequestSeen)


def test_nothing_below_an_own_host_leaves_the_machine() -> None:
    with trial() as began:
        got = began.ask(site, "https://a.warex.invalid/", **DOCUMENT)

        assert (got.requests, got.cut) == ([], "close")
    assert began.the(ResponseSeen).error == "there is no such host"
