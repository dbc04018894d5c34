"""Pages, calls to models and faults of each family through stock mitmdump, over TLS."""

import asyncio
import json
import re
import threading
import time
from typing import Any

import httpx
import pytest

from tests.mitmproxy_addon.shop import HTML, JSON, NAVIGATES, PAGE, Shop
from tests.ports import reserved_port
from tests.proxy.support.client import H2Client, secure
from tests.proxy.support.lanes import wait_until
from tests.proxy.support.model import completion
from tests.proxy.support.origin import Answer, Seen
from tests.proxy.support.page_reports import PageScript
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import FaultMissed, FaultPlanned, LlmCall, SiteUnreachable

pytestmark = [pytest.mark.wire, pytest.mark.slow]


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


def test_what_a_changed_page_asks_for_itself_is_answered_or_never(shop: Shop) -> None:
    pages = []
    for name in ("endless", "worker"):
        shop.site.routes[f"/{name}"] = Answer(headers=HTML, body=PAGE)
        pages.append(PageScript(shop.get(name).content))
    with pytest.raises(httpx.ReadTimeout):
        shop.client.get(f"{shop.url}{pages[0].path}?1", timeout=0.3)
    worker = shop.client.get(
        f"{shop.url}{pages[1].path}", headers={"sec-fetch-dest": "serviceworker"}
    )

    assert pages[1].key in worker.text


def test_json_is_rewritten(shop: Shop) -> None:
    body = json.dumps({"items": [{"name": "lamp", "price": 25.5}] * 3}).encode()
    shop.site.routes["/json"] = Answer(headers=JSON, body=body)
    answer = shop.client.get(f"{shop.url}/json", headers={"sec-fetch-dest": "empty"})

    assert answer.json() != json.loads(body)
    assert shop.delivered("json").changes


def _ask(shop: Shop, model: str, **more: Any) -> httpx.Response:
    asked = {"model": model, "messages": [{"role": "user", "content": "hello"}], **more}
    return shop.client.post(f"{shop.url}/v1/chat/completions", json=asked)


def _call(shop: Shop, model: str) -> LlmCall:
    wait_until(lambda: model in [it.model_asked for it in shop.events(LlmCall)])
    (event,) = (it for it in shop.events(LlmCall) if it.model_asked == model)
    return event


def test_a_session_is_lost_at_the_site_and_at_the_client(shop: Shop) -> None:
    shop.site.routes["/signed-out"] = Answer(headers=HTML, body=PAGE)
    cookies = [("cookie", "sid=1"), ("cookie", "theme=dark")]
    url = f"{shop.url}/signed-out"
    answer = shop.client.get(url, headers=[*NAVIGATES.items(), *cookies])

    assert answer.content == PAGE
    assert {it.partition("=")[0] for it in answer.headers.get_list("set-cookie")} == {"sid"}
    (seen,) = (it for it in shop.site.seen if it.target == "/signed-out")
    assert seen.header("cookie") == "theme=dark"
    assert [it.before for it in shop.delivered("signed-out").changes] == ["sid"]


def test_a_world_that_changes_is_answered_for(shop: Shop) -> None:
    shop.site.routes["/coded"] = Answer(headers=HTML, body=PAGE)
    form = re.search(r'action="(/[0-9a-f]{16})"', shop.get("coded").text)
    assert form
    messages = shop.get(f"{form[1][1:]}/messages").text
    code = re.search(r"code is ([0-9]{6})", messages)
    assert code
    passed = shop.client.post(shop.url + form[1], data={"code": code[1]}, headers=NAVIGATES)
    assert (passed.status_code, passed.headers["location"]) == (303, "/coded")
    assert shop.get("coded").content == PAGE
    assert shop.client.post(f"{shop.url}/conflict", headers=NAVIGATES).status_code == 409
    assert shop.get("products/7").status_code == 404
    assert not [it for it in shop.site.seen if it.target in ("/conflict", "/products/7")]


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


def test_a_client_that_leaves_during_a_delay_misses_it(
    shop: Shop, ca: CertificateAuthority
) -> None:
    port = shop.site.port
    if shop.version == "HTTP/2.0":
        with secure(shop.dump.port, "localhost", port, ca.certificate, "h2") as connection:
            client = H2Client(connection, f"localhost:{port}")
            stream = client.ask("/waits")
            wait_until(lambda: "waits" in [it.rule for it in shop.events(FaultPlanned)])
            client.give_up(stream)
            wait_until(lambda: "waits" in [it.rule for it in shop.events(FaultMissed)])
    else:
        with pytest.raises(httpx.ReadTimeout):
            shop.client.get(f"{shop.url}/waits", timeout=0.2)
    wait_until(lambda: "waits" in [it.rule for it in shop.events(FaultMissed)])
    (missed,) = (it for it in shop.events(FaultMissed) if it.rule == "waits")
    assert missed.reason == "client_gone"
    assert missed.waited_s < 5
    assert shop.response("waits").error == "Client disconnected."


def test_a_stream_passes_while_it_comes(shop: Shop) -> None:
    gate = threading.Event()

    async def speak(seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        writer.write(head + b"Transfer-Encoding: chunked\r\n\r\n7\r\ndata: 1\r\n")
        await writer.drain()
        await asyncio.to_thread(gate.wait, 10)
        writer.write(b"7\r\ndata: 2\r\n0\r\n\r\n")

    if shop.version == "HTTP/2.0":
        pytest.skip("the site of these tests streams over HTTP/1.1 only")
    shop.site.routes["/events"] = speak
    with shop.client.stream("GET", f"{shop.url}/events") as answer:
        pieces = answer.iter_raw()
        assert next(pieces) == b"data: 1"
        gate.set()
        assert b"".join(pieces) == b"data: 2"
    assert shop.response("events").size == 14


def test_an_answer_that_the_site_cuts_is_recorded_so(shop: Shop) -> None:
    if shop.version == "HTTP/2.0":
        pytest.skip("the site of these tests cuts over HTTP/1.1 only")

    async def cut(seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        writer.close()

    shop.site.routes["/short"] = cut
    with pytest.raises(httpx.RemoteProtocolError):
        shop.get("short")
    seen = shop.response("short")
    assert (seen.status, seen.by, seen.size) == (200, "site", 4)
    assert seen.error


def test_a_site_that_is_down_is_answered_by_mitmproxy(shop: Shop) -> None:
    port = reserved_port()
    answer = shop.client.get(f"https://localhost:{port}/down")
    assert answer.status_code == 502
    seen = shop.response("down")
    assert (seen.status, seen.by) == (None, "none")
    assert seen.error
    (unreachable,) = (it for it in shop.events(SiteUnreachable) if it.port == port)
    assert (unreachable.exchange, unreachable.failure) == (seen.exchange, "connection_refused")


def test_what_a_client_lets_wait_until_it_leaves_has_not_arrived(
    shop: Shop, ca: CertificateAuthority
) -> None:
    if shop.version == "HTTP/1.1":
        pytest.skip("flow control is of HTTP/2")
    port = shop.site.port
    with secure(shop.dump.port, "localhost", port, ca.certificate, "h2") as connection:
        client = H2Client(connection, f"localhost:{port}", window=20)
        stream = client.ask("/unread")
        client.read_until(lambda: len(client.streams[stream].body) == 20, stream)
        client.give_up(stream)
        wait_until(lambda: "unread" in [it.rule for it in shop.events(FaultMissed)])
    (missed,) = (it for it in shop.events(FaultMissed) if it.rule == "unread")
    assert missed.reason == "client_left"
