"""Pages, calls to models and faults of each family through stock mitmdump, over TLS."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import yaml

from tests.mitmproxy_addon.dump import Dump, mitmdump
from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import wait_until
from tests.proxy.support.model import completion
from tests.proxy.support.origin import Answer, Origin, served, server_context
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import (
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    LlmCall,
    RequestSeen,
    ResponseSeen,
    read_trace,
)

pytestmark = [pytest.mark.wire, pytest.mark.slow]

PAGE = b"<!doctype html><html><head><title>Shop</title></head><body><h1>Shop</h1></body></html>"
NAVIGATES = {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate"}
HTML = [(b"content-type", b"text/html; charset=utf-8")]
JSON = [(b"content-type", b"application/json")]


def _rule(name: str, fault: dict[str, Any], **match: Any) -> dict[str, Any]:
    where = match or {"url": f"*/{name}"}
    return {"name": name, "match": where, "trigger": {"always": True}, "fault": fault}


RULES = [
    _rule("error", {"kind": "http_error", "status": 503}),
    _rule("late", {"kind": "http_error", "status": 500, "delay": 0.3}),
    _rule("closed", {"kind": "connection_cut", "how": "close"}),
    _rule("reset", {"kind": "connection_cut", "how": "reset"}),
    _rule("after", {"kind": "connection_cut", "how": "close", "stage": "response"}),
    _rule("popup", {"kind": "popup"}),
    _rule("json", {"kind": "json_corruption"}),
    _rule("lost", {"kind": "lost_write"}, url="*/lost", method="POST"),
    _rule("again", {"kind": "duplicate_write"}, url="*/again", method="POST"),
    _rule("m-error", {"kind": "llm_error"}, llm={"model": "m-error"}),
    _rule("m-empty", {"kind": "llm_empty"}, llm={"model": "m-empty"}),
    _rule("m-cut", {"kind": "llm_cut", "how": "clean"}, llm={"model": "m-cut"}),
    _rule("m-timeout", {"kind": "llm_timeout", "delay": 0.1}, llm={"model": "m-timeout"}),
    _rule("expired", {"kind": "tls_error", "how": "expired"}, url="https://expired.example"),
    _rule("tls-cut", {"kind": "tls_error", "how": "cut"}, url="https://cut.example"),
]


@dataclass
class Shop:
    """A site behind mitmdump, and a client of both."""

    site: Origin
    dump: Dump
    client: httpx.Client
    out: Path
    version: str

    @property
    def url(self) -> str:
        return f"https://localhost:{self.site.port}"

    def get(self, path: str) -> httpx.Response:
        return self.client.get(f"{self.url}/{path}", headers=NAVIGATES)

    def events[E: msgspec.Struct](self, kind: type[E]) -> list[E]:
        return list(read_trace(self.out / "events.jsonl").events(kind))

    def delivered(self, rule: str) -> FaultDelivered:
        """Return the one delivery of a rule's fault."""
        wait_until(lambda: [it for it in self.events(FaultDelivered) if it.rule == rule])
        (event,) = (it for it in self.events(FaultDelivered) if it.rule == rule)
        assert rule not in [it.rule for it in self.events(FaultMissed)]
        return event

    def response(self, path: str) -> ResponseSeen:
        """Return the recorded response of the one request for a path."""
        (request,) = (it for it in self.events(RequestSeen) if it.url.endswith(f"/{path}"))
        wait_until(lambda: request.exchange in [it.exchange for it in self.events(ResponseSeen)])
        (event,) = (it for it in self.events(ResponseSeen) if it.exchange == request.exchange)
        return event


@pytest.fixture(scope="module", params=["HTTP/1.1", "HTTP/2.0"])
def shop(
    request: pytest.FixtureRequest,
    ca: CertificateAuthority,
    leaf: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shop]:
    over_h2 = request.param == "HTTP/2.0"
    folder = tmp_path_factory.mktemp("dump")
    scenario = folder / "scenario.yaml"
    scenario.write_text(yaml.safe_dump({"name": "families", "rules": RULES}))
    trusts = ["--set", f"ssl_verify_upstream_trusted_ca={ca.certificate}"]
    protocols = ["h2", "http/1.1"] if over_h2 else ["http/1.1"]
    with (
        served(server_context(*leaf, protocols)) as site,
        mitmdump(folder, *trusts, conf=ca.folder, scenario=str(scenario), out="out") as dump,
        httpx.Client(
            http2=over_h2,
            proxy=f"http://127.0.0.1:{dump.port}",
            verify=trusting(ca.certificate),
        ) as client,
    ):
        yield Shop(site, dump, client, folder / "out", request.param)
        assert "Traceback" not in dump.stop()
        assert not list(read_trace(folder / "out" / "events.jsonl").events(HarnessBroke))


def test_a_page_passes_unchanged(shop: Shop) -> None:
    shop.site.routes["/plain"] = Answer(headers=HTML, body=PAGE)
    answer = shop.get("plain")

    assert (answer.status_code, answer.content) == (200, PAGE)
    assert answer.http_version == ("HTTP/2" if shop.version == "HTTP/2.0" else "HTTP/1.1")
    seen = shop.response("plain")
    assert (seen.status, seen.by, seen.size, seen.error) == (200, "site", len(PAGE), None)


def test_a_fault_answers_in_the_sites_place(shop: Shop) -> None:
    assert shop.get("error").status_code == 503
    shop.delivered("error")
    assert "/error" not in [it.target for it in shop.site.seen]
    assert shop.response("error").by == "warex"


def test_a_delay_is_waited_for(shop: Shop) -> None:
    began = time.monotonic()
    assert shop.get("late").status_code == 500
    assert time.monotonic() - began >= 0.3
    assert shop.delivered("late").waited_s >= 0.3


@pytest.mark.parametrize("how", ["closed", "reset"])
def test_an_exchange_is_cut(shop: Shop, how: str) -> None:
    with pytest.raises(httpx.TransportError):
        shop.get(how)
    shop.delivered(how)
    assert f"/{how}" not in [it.target for it in shop.site.seen]
    assert shop.response(how).error == "WAREX cut the connection"


def test_an_answer_is_lost_after_the_site_has_acted(shop: Shop) -> None:
    with pytest.raises(httpx.TransportError):
        shop.get("after")
    shop.delivered("after")
    assert "/after" in [it.target for it in shop.site.seen]


def test_a_page_is_rewritten(shop: Shop) -> None:
    shop.site.routes["/popup"] = Answer(headers=HTML, body=PAGE)
    answer = shop.get("popup")

    assert answer.status_code == 200
    assert b"<h1>Shop</h1>" in answer.content
    assert b"<script" in answer.content
    assert [it.rule for it in shop.events(FaultPlanned)].count("popup") == 1


def test_json_is_rewritten(shop: Shop) -> None:
    body = json.dumps({"items": [{"name": "lamp", "price": 25.5}] * 3}).encode()
    shop.site.routes["/json"] = Answer(headers=JSON, body=body)
    answer = shop.client.get(f"{shop.url}/json", headers={"sec-fetch-dest": "empty"})

    assert answer.json() != json.loads(body)
    assert shop.delivered("json").changes


def test_a_write_is_lost_or_sent_twice(shop: Shop) -> None:
    lost = shop.client.post(f"{shop.url}/lost", json={"n": 1})
    again = shop.client.post(f"{shop.url}/again", json={"n": 2})

    assert lost.is_success
    assert again.is_success
    shop.delivered("lost")
    shop.delivered("again")
    targets = [it.target for it in shop.site.seen]
    assert ("/lost" not in targets, targets.count("/again")) == (True, 2)
    assert {it.body for it in shop.site.seen if it.target == "/again"} == {b'{"n":2}'}


def _ask(shop: Shop, model: str, **more: Any) -> httpx.Response:
    asked = {"model": model, "messages": [{"role": "user", "content": "hello"}], **more}
    return shop.client.post(f"{shop.url}/v1/chat/completions", json=asked)


def _call(shop: Shop, model: str) -> LlmCall:
    wait_until(lambda: model in [it.model_asked for it in shop.events(LlmCall)])
    (event,) = (it for it in shop.events(LlmCall) if it.model_asked == model)
    return event


def test_a_models_answer_is_read(shop: Shop) -> None:
    shop.site.routes["/v1/chat/completions"] = Answer(headers=JSON, body=completion("plain text"))
    assert _ask(shop, "m-plain").json()["choices"][0]["message"]["content"] == "plain text"
    call = _call(shop, "m-plain")
    assert (call.answer, call.error) == ("plain text", None)


def test_a_models_stream_is_read_while_it_passes(shop: Shop) -> None:
    events = [
        {"model": "m", "choices": [{"index": 0, "delta": {"content": it}, "finish_reason": None}]}
        for it in ("one ", "two ", "three")
    ]
    lines = [f"data: {json.dumps(it)}\n\n" for it in events]
    body = "".join([*lines, "data: [DONE]\n\n"]).encode()
    answer = Answer(headers=[(b"content-type", b"text/event-stream")], body=body)
    shop.site.routes["/v1/chat/completions"] = answer
    assert _ask(shop, "m-stream", stream=True).content == body
    call = _call(shop, "m-stream")
    assert (call.answer, call.stream) == ("one two three", True)


@pytest.mark.parametrize("model", ["m-error", "m-empty", "m-cut"])
def test_a_model_fails(shop: Shop, model: str) -> None:
    text = "a long text " * 50
    shop.site.routes["/v1/chat/completions"] = Answer(headers=JSON, body=completion(text))
    answer = _ask(shop, model)

    assert text.encode() not in answer.content
    shop.delivered(model)


def test_a_model_does_not_answer(shop: Shop) -> None:
    with pytest.raises(httpx.TransportError):
        _ask(shop, "m-timeout")
    shop.delivered("m-timeout")


@pytest.mark.parametrize("rule", ["expired", "tls-cut"])
def test_tls_fails(shop: Shop, rule: str) -> None:
    host = {"expired": "expired", "tls-cut": "cut"}[rule]
    with pytest.raises((httpx.ConnectError, httpx.ReadError), match=r"expired|EOF|reset|closed"):
        shop.client.get(f"https://{host}.example/")
    shop.delivered(rule)
