"""What the scenario says is what the client meets, and the ledger says what became of it."""

import asyncio
import socket
import time
from unittest.mock import ANY

import httpx
import pytest

from tests.proxy.support.client import (
    H2Client,
    read_answer,
    read_until_closed,
    secure,
    trusting,
    was_reset,
)
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.network_error import NetworkError
from warex.faults.scripts.javascript_failure import JavascriptFailure
from warex.faults.server.http_error import HttpError
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Rule, Scenario, Trigger
from warex.traces import (
    Armed,
    Canary,
    Disarmed,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    LlmCall,
    LlmUnread,
    RequestSeen,
    ResponseSeen,
)

pytestmark = pytest.mark.wire

FIRST = Trigger(first=1)


def ask(lane: Lane, origin: Origin, path: str = "/a", method: str = "GET") -> socket.socket:
    """Send a plain request through the proxy; return the connection."""
    connection = socket.create_connection(("127.0.0.1", lane.port), timeout=30)
    again(connection, origin, path, method)
    return connection


def again(connection: socket.socket, origin: Origin, path: str = "/a", method: str = "GET") -> None:
    body = "" if method in ("GET", "HEAD") else "Content-Length: 2\r\n"
    connection.sendall(
        f"{method} http://127.0.0.1:{origin.port}{path} HTTP/1.1\r\nHost: x\r\n{body}\r\n".encode()
        + (b"ab" if body else b"")
    )


# ---- replies


@pytest.mark.parametrize(("stage", "acted"), [("request", False), ("response", True)])
def test_a_reply_replaces_the_answer(begin: Begin, plain: Origin, stage: str, acted: bool) -> None:
    fault = HttpError.model_validate({"status": 503, "stage": stage})
    with begin(scenario=scenario(fault, FIRST)) as lane, ask(lane, plain, method="POST") as client:
        head, body = read_answer(client)
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 5" in head
        assert body
        again(client, plain, "/after")
        assert read_answer(client)[1] == b"hello"
    assert ("/a" in plain.paths) is acted
    planned, delivered = ledger(lane)
    assert (planned.stage, planned.scope, planned.ordinal) == (stage, "", 1)
    assert planned.effects == ("reply",)
    assert isinstance(delivered, FaultDelivered)
    assert delivered.injection == planned.injection
    answers = lane.events(ResponseSeen)
    assert [(a.status, a.by, a.error) for a in answers] == [
        (503, "warex", None),
        (200, "site", None),
    ]
    assert answers[0].size == len(body)


def test_a_reply_to_head_has_a_head_only(begin: Begin, plain: Origin) -> None:
    with (
        begin(scenario=scenario(HttpError(status=500), FIRST)) as lane,
        ask(lane, plain, method="HEAD") as client,
    ):
        client.sendall(
            f"GET http://127.0.0.1:{plain.port}/b HTTP/1.1\r\nHost: x\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        got = read_until_closed(client)
    first, second = got.split(b"\r\n\r\n", 1)
    assert first.startswith(b"HTTP/1.1 500 ")
    assert second.startswith(b"HTTP/1.1 200 ")


def test_a_reply_needs_no_site(begin: Begin, ca: CertificateAuthority) -> None:
    with (
        begin(scenario=scenario(HttpError(status=500))) as lane,
        httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client,
    ):
        assert client.get("http://nowhere.invalid/").status_code == 500


def test_a_site_that_answered_is_judged_by_its_answer(begin: Begin, plain: Origin) -> None:
    plain.routes["/missing"] = Answer(status=404)
    rule = scenario(HttpError(status=503, stage="response"), match={"status": 404})
    with begin(scenario=rule) as lane, ask(lane, plain) as client:
        assert read_answer(client)[0].startswith(b"HTTP/1.1 200 ")
        again(client, plain, "/missing")
        assert read_answer(client)[0].startswith(b"HTTP/1.1 503 ")
    assert [type(event) for event in ledger(lane)] == [FaultPlanned, FaultDelivered]


# ---- holds


def test_a_hold_is_waited_out_and_then_answered(begin: Begin, plain: Origin) -> None:
    fault = NetworkError(delay=0.2)
    with begin(scenario=scenario(fault, FIRST)) as lane, ask(lane, plain) as client:
        before = time.monotonic()
        assert read_answer(client)[0].startswith(b"HTTP/1.1 504 ")
        assert time.monotonic() - before >= 0.15
    planned, delivered = ledger(lane)
    assert planned.effects == ("delay", "reply")
    assert isinstance(delivered, FaultDelivered)
    assert delivered.waited_s >= 0.2


def test_a_late_script_is_the_sites_own(begin: Begin, plain: Origin) -> None:
    fault = JavascriptFailure(delay=0.1, mode="delay")
    with begin(scenario=scenario(fault, FIRST)) as lane, ask(lane, plain, "/a.js") as client:
        assert read_answer(client)[1] == b"hello"
    assert [type(event) for event in ledger(lane)] == [FaultPlanned, FaultDelivered]
    assert [event.by for event in lane.events(ResponseSeen)] == ["site"]


@pytest.mark.parametrize("stage", ["request", "response"])
def test_leaving_early_is_a_miss(begin: Begin, plain: Origin, stage: str) -> None:
    fault = NetworkError.model_validate({"delay": 30, "stage": stage})
    with begin(scenario=scenario(fault, FIRST)) as lane:
        with ask(lane, plain):
            wait_until(lambda: lane.proxy.call("GET", "/ledger"))
        wait_until(lambda: len(lane.proxy.call("GET", "/ledger")) == 2)
    missed = ledger(lane)[1]
    assert isinstance(missed, FaultMissed)
    assert missed.reason == "client_gone"
    assert missed.waited_s < 1
    assert [(e.status, e.by) for e in lane.events(ResponseSeen)] == [(None, "none")]
    assert ("/a" in plain.paths) is (stage == "response")


def test_giving_up_after_a_second_counts_as_a_hit(begin: Begin, plain: Origin) -> None:
    with begin(scenario=scenario(NetworkError(delay=30), FIRST)) as lane:
        with ask(lane, plain) as client:
            client.settimeout(1.1)
            with pytest.raises(TimeoutError):
                client.recv(1)
        wait_until(lambda: len(lane.proxy.call("GET", "/ledger")) == 2)
    delivered = ledger(lane)[1]
    assert isinstance(delivered, FaultDelivered)
    assert delivered.client_left
    assert 1 <= delivered.waited_s < 3
    assert plain.paths == []


def test_a_stream_that_is_reset_while_held_is_noticed_at_once(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    rule = scenario(NetworkError(delay=30), match={"url": "*/held"})
    with (
        begin(scenario=rule) as lane,
        secure(lane.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection,
    ):
        client = H2Client(connection, f"localhost:{secure_h2.port}")
        pending = client.ask("/held")
        assert client.wait(client.ask("/free")).body == b"hello"
        client.give_up(pending)
        assert client.wait(client.ask("/free")).body == b"hello"
        wait_until(lambda: len(lane.proxy.call("GET", "/ledger")) == 2)
    missed = ledger(lane)[1]
    assert isinstance(missed, FaultMissed)
    assert missed.reason == "client_gone"
    assert secure_h2.paths == ["/free", "/free"]


def test_a_hold_delays_nobody_else(begin: Begin, plain: Origin) -> None:
    rule = scenario(NetworkError(delay=30), match={"url": "*/held"})
    with begin(scenario=rule) as lane, ask(lane, plain, "/held"), ask(lane, plain) as other:
        before = time.monotonic()
        assert read_answer(other)[1] == b"hello"
        assert time.monotonic() - before < 30


def test_what_is_held_when_the_trial_ends_is_missed(begin: Begin, plain: Origin) -> None:
    with begin(scenario=scenario(NetworkError(delay=30), FIRST)) as lane:
        client = ask(lane, plain)
        wait_until(lambda: lane.proxy.call("GET", "/ledger"))
    client.close()
    (missed,) = lane.events(FaultMissed)
    assert missed.reason == "trial_over"
    assert 0 < missed.waited_s < 30
    assert [event.error for event in lane.events(ResponseSeen)] == ["the trial ended"]
    assert lane.proxy.broken is None


@pytest.mark.parametrize("size", [1000, 10_000_000])
@pytest.mark.parametrize("leaves", [True, False], ids=["client leaves", "trial ends"])
def test_an_unfinished_upload_is_in_the_trace_but_not_counted(
    begin: Begin, plain: Origin, size: int, *, leaves: bool
) -> None:
    begun = (
        f"POST http://127.0.0.1:{plain.port}/up HTTP/1.1\r\nHost: x\r\n"
        f"Content-Length: {size}\r\n\r\nabc".encode()
    )
    rule = scenario(HttpError(status=503), Trigger(first=1), match={"url": "*/up"})
    with begin(scenario=rule) as lane:
        upload = socket.create_connection(("127.0.0.1", lane.port), timeout=30)
        upload.sendall(begun)
        with ask(lane, plain) as other:
            assert read_answer(other)[1] == b"hello"
        if leaves:
            upload.shutdown(socket.SHUT_WR)
            assert read_until_closed(upload) == b""
            with ask(lane, plain, "/up", "POST") as full:
                assert read_answer(full)[0].startswith(b"HTTP/1.1 503 ")
    upload.close()
    seen = {event.exchange: event.url for event in lane.events(RequestSeen)}
    ended = {event.exchange: event for event in lane.events(ResponseSeen)}
    assert seen.keys() == ended.keys()
    (given_up,) = (ended[name] for name in ended if ended[name].by == "none")
    assert seen[given_up.exchange].endswith("/up")
    assert (given_up.error == "the trial ended") is not leaves
    assert [hit.ordinal for hit in lane.events(FaultPlanned)] == [1] * leaves
    assert "/up" not in plain.paths
    assert lane.proxy.broken is None


# ---- cuts


@pytest.mark.parametrize("stage", ["request", "response"])
@pytest.mark.parametrize(
    ("how", "met"), [("close", b""), ("reset", ConnectionResetError)], ids=["close", "reset"]
)
def test_a_cut_of_http1_ends_the_connection(
    begin: Begin, plain: Origin, how: str, met: object, stage: str
) -> None:
    fault = ConnectionCut.model_validate({"how": how, "stage": stage})
    with begin(scenario=scenario(fault, FIRST)) as lane, ask(lane, plain) as client:
        if met == b"":
            assert read_until_closed(client) == b""
        else:
            with pytest.raises(ConnectionResetError):
                client.recv(1)
    planned, delivered = ledger(lane)
    assert planned.effects == ("cut",)
    assert isinstance(delivered, FaultDelivered)
    assert [(e.status, e.by) for e in lane.events(ResponseSeen)] == [(None, "warex")]
    assert ("/a" in plain.paths) is (stage == "response")


def test_a_close_on_http2_ends_the_stream_only(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    with (
        begin(scenario=scenario(ConnectionCut(how="close"), FIRST)) as lane,
        secure(lane.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection,
    ):
        client = H2Client(connection, f"localhost:{secure_h2.port}")
        assert client.wait(client.ask("/a")).reset is not None
        assert client.wait(client.ask("/b")).body == b"hello"
    assert isinstance(ledger(lane)[1], FaultDelivered)


def test_a_reset_on_http2_takes_the_connection(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    with (
        begin(scenario=scenario(ConnectionCut(how="reset"), FIRST)) as lane,
        secure(lane.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection,
    ):
        client = H2Client(connection, f"localhost:{secure_h2.port}")
        client.ask("/a")
        assert was_reset(connection)
    assert isinstance(ledger(lane)[1], FaultDelivered)


def test_behind_a_cut_nothing_strikes(begin: Begin, plain: Origin) -> None:
    rules = (
        Rule(name="cut", trigger=FIRST, fault=ConnectionCut(how="close")),
        Rule(name="late", trigger=FIRST, fault=JavascriptFailure(delay=30, mode="delay")),
    )
    both = Scenario(name="two", rules=rules)
    with begin(scenario=both) as lane, ask(lane, plain, "/a.js") as client:
        assert read_until_closed(client) == b""
    assert [(e.rule, e.reason) for e in lane.events(FaultMissed)] == [("late", "superseded")]
    assert [e.rule for e in lane.events(FaultDelivered)] == ["cut"]


# ---- silent repeats


def test_the_same_request_right_after_a_cut_is_the_same_occurrence(
    begin: Begin, plain: Origin
) -> None:
    with begin(scenario=scenario(ConnectionCut(how="close"), FIRST)) as lane:
        for _ in range(2):
            with ask(lane, plain, method="POST") as client:
                assert read_until_closed(client) == b""
        with ask(lane, plain, "/other") as client:
            assert read_answer(client)[1] == b"hello"
    first, again_planned = lane.events(FaultPlanned)
    assert (first.repeat_of, again_planned.repeat_of) == (None, first.injection)
    assert [event.repeat_of for event in lane.events(RequestSeen)] == [None, "x1", None]
    assert len(lane.events(FaultDelivered)) == 2


def test_after_an_llm_call_the_same_request_is_another_occurrence(
    begin: Begin, plain: Origin
) -> None:
    with begin(scenario=scenario(ConnectionCut(how="close"), FIRST)) as lane:
        with ask(lane, plain) as client:
            assert read_until_closed(client) == b""
        chat(lane, plain)
        with ask(lane, plain) as client:
            assert read_answer(client)[1] == b"hello"
    assert len(lane.events(FaultPlanned)) == 1


def chat(lane: Lane, plain: Origin, text: str = "noop()") -> None:
    """Call a model through the proxy."""
    answer = f'{{"choices": [{{"index": 0, "message": {{"content": "{text}"}}}}]}}'
    path = "/v1/chat/completions"
    plain.routes[path] = Answer(
        headers=[(b"Content-Type", b"application/json")], body=answer.encode()
    )
    with httpx.Client(proxy=lane.url) as client:
        client.post(
            f"http://127.0.0.1:{plain.port}{path}",
            json={"model": "m", "messages": [{"role": "user", "content": text}]},
        )


# ---- arming


def test_nothing_is_hit_or_counted_before_the_first_page(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    rule = scenario(HttpError(status=500), FIRST)
    with (
        begin(scenario=rule, arm="first_page", sites=(site,)) as lane,
        httpx.Client(proxy=lane.url) as client,
    ):
        # A page's own request, and a program's that asks as if for a page.
        for headers in ({"sec-fetch-dest": "empty"}, {"accept": "text/html"}):
            assert client.get(f"{site}/reset", headers=headers).status_code == 200
        page = {"sec-fetch-dest": "document"}
        assert client.get(f"{site}/page", headers=page).status_code == 500
        assert client.get(f"{site}/page", headers=page).status_code == 200
    assert [event.by for event in lane.events(Armed)] == ["first_page"]
    assert lane.events(FaultPlanned)[0].ordinal == 1
    missed = lane.events(FaultMissed)
    assert [(event.reason, event.count) for event in missed] == [("not_armed", 2)]


def test_a_call_of_another_family_is_recorded_and_unchanged(begin: Begin, plain: Origin) -> None:
    plain.routes["/v1/messages"] = Answer(body=b"{}")
    with begin(scenario=scenario(HttpError(status=500))) as lane:
        with httpx.Client(proxy=lane.url) as client:
            turns = [{"role": "user", "content": "hi"}]
            url = f"http://127.0.0.1:{plain.port}/v1/messages"
            answer = client.post(f"{url}?key=1", json={"model": "m", "messages": turns})
        assert answer.status_code == 200
    [unread] = lane.events(LlmUnread)
    assert (unread.exchange, unread.url.partition("?")[0]) == ("x1", url)
    assert not lane.events(LlmCall)
    assert not lane.events(FaultPlanned)


def test_the_first_llm_call_arms(begin: Begin, plain: Origin) -> None:
    rule = scenario(HttpError(status=500), match={"url": "*/page"})
    with begin(scenario=rule, arm="first_llm_call") as lane, ask(lane, plain, "/page") as client:
        assert read_answer(client)[1] == b"hello"
        chat(lane, plain)
        again(client, plain, "/page")
        assert read_answer(client)[0].startswith(b"HTTP/1.1 500 ")
    assert [event.by for event in lane.events(Armed)] == ["first_llm_call"]
    assert [(e.reason, e.count) for e in lane.events(FaultMissed)] == [("not_armed", 1)]


def test_after_the_agents_last_action_nothing_is_hit(begin: Begin, plain: Origin) -> None:
    rule = scenario(HttpError(status=500), match={"url": "*/page"})
    vocabulary = Vocabulary(name="test", finish=("send_msg_to_user",))
    with begin(scenario=rule, vocabulary=vocabulary) as lane, ask(lane, plain, "/page") as client:
        assert read_answer(client)[0].startswith(b"HTTP/1.1 500 ")
        chat(lane, plain, "send_msg_to_user('done')")
        again(client, plain, "/page")
        assert read_answer(client)[1] == b"hello"
    assert [event.by for event in lane.events(Disarmed)] == ["terminal_action"]
    assert [(e.reason, e.count) for e in lane.events(FaultMissed)] == [("trial_over", 1)]


def test_a_harness_can_say_that_its_agent_has_ended(begin: Begin, plain: Origin) -> None:
    rule = scenario(HttpError(status=500), match={"url": "*/page"})
    page = f"http://127.0.0.1:{plain.port}/page"
    with (
        begin(scenario=rule, agent_ended="n0nce") as lane,
        httpx.Client(proxy=lane.url) as client,
    ):
        assert client.get("http://canary.warex.test/another").status_code == 200
        assert client.get(page).status_code == 500
        assert client.get("http://canary.warex.test/n0nce").status_code == 200
        assert client.get(page).status_code == 200
    assert [event.by for event in lane.events(Disarmed)] == ["harness"]
    assert [event.url for event in lane.events(RequestSeen)] == [page, page]


def test_an_agent_that_ends_a_subroutine_is_still_at_its_task(begin: Begin, plain: Origin) -> None:
    rule = scenario(HttpError(status=500), match={"url": "*/page"})
    vocabulary = Vocabulary(name="test", calls=("find",), finish=("stop",))
    with begin(scenario=rule, vocabulary=vocabulary) as lane:
        chat(lane, plain, "find [it]")
        chat(lane, plain, "stop [here]")
        with ask(lane, plain, "/page") as client:
            assert read_answer(client)[0].startswith(b"HTTP/1.1 500 ")
        chat(lane, plain, "stop [done]")
    assert [event.by for event in lane.events(Disarmed)] == ["terminal_action"]


def test_an_agent_that_ends_before_arming_leaves_the_judges_page_alone(
    begin: Begin, plain: Origin
) -> None:
    rule = scenario(HttpError(status=500), match={"url": "*/page"})
    vocabulary = Vocabulary(name="test", finish=("send_msg_to_user",))
    with (
        begin(scenario=rule, vocabulary=vocabulary, arm="first_page") as lane,
        ask(lane, plain, "/other", "POST") as client,
    ):
        read_answer(client)
        for _ in range(2):
            chat(lane, plain, "send_msg_to_user('done')")
        page = {"sec-fetch-dest": "document"}
        with httpx.Client(proxy=lane.url) as judge:
            url = f"http://127.0.0.1:{plain.port}/page"
            assert judge.get(url, headers=page).status_code == 200
    assert lane.events(Armed) == []
    assert [event.by for event in lane.events(Disarmed)] == ["terminal_action"]


def test_what_is_never_touched_is_counted_by_itself(begin: Begin, plain: Origin) -> None:
    with (
        begin(scenario=scenario(HttpError(status=500), Trigger(nth=(1,)))) as lane,
        ask(lane, plain, "/favicon.ico") as client,
    ):
        assert read_answer(client)[1] == b"hello"
        again(client, plain)
        assert read_answer(client)[0].startswith(b"HTTP/1.1 500 ")
    assert [(e.reason, e.count) for e in lane.events(FaultMissed)] == [("never", 1)]


# ---- the rest


def test_the_canary_is_answered_by_the_proxy_itself(begin: Begin, ca: CertificateAuthority) -> None:
    with (
        begin(scenario=scenario(HttpError(status=500))) as lane,
        httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client,
    ):
        page = client.get("https://canary.warex.test/nonce1")
    assert page.status_code == 200
    assert b"nonce1".hex() in page.text
    assert [event.passed for event in lane.events(Canary)] == [True]
    assert not lane.events(RequestSeen)
    assert not lane.events(FaultPlanned)


@pytest.mark.parametrize("leaves", [True, False])
def test_requests_to_the_canarys_host_are_not_in_the_trace(
    begin: Begin, ca: CertificateAuthority, *, leaves: bool
) -> None:
    """A browser that ends leaves its question about the icon half asked, or half answered."""
    with begin(scenario=scenario(HttpError(status=500))) as lane:
        half = socket.create_connection(("127.0.0.1", lane.port), timeout=30)
        half.sendall(
            b"POST http://canary.warex.test/favicon.ico HTTP/1.1\r\n"
            b"Host: canary.warex.test\r\nContent-Length: 9\r\n\r\nab"
        )
        canary = "canary.warex.test"
        with secure(lane.port, canary, 443, ca.certificate, "h2") as connection:
            client = H2Client(connection, canary)
            client.give_up(client.ask("/favicon.ico", flush=False))
            assert b"nonce1".hex().encode() in client.wait(client.ask("/nonce1")).body
        if leaves:
            half.shutdown(socket.SHUT_WR)
            assert read_until_closed(half) == b""
    half.close()
    assert not [*lane.events(RequestSeen), *lane.events(ResponseSeen)]
    assert not [*lane.events(FaultPlanned), *lane.events(FaultMissed)]
    assert lane.proxy.broken is None


def test_an_answer_that_breaks_off_was_an_answer(begin: Begin, plain: Origin) -> None:
    async def break_off(
        seen: object, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhel")
        writer.close()

    plain.routes["/a"] = break_off
    with begin() as lane, ask(lane, plain) as client:
        assert read_until_closed(client).endswith(b"\r\n\r\nhel")
    (answer,) = lane.events(ResponseSeen)
    assert (answer.status, answer.by, answer.size) == (200, "site", 3)
    assert answer.error


def test_a_site_that_answers_before_the_upload_ends_is_recorded_in_order(begin: Begin) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with (
            begin() as lane,
            socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client,
        ):
            client.sendall(
                f"POST http://127.0.0.1:{port}/up HTTP/1.1\r\nHost: x\r\n"
                "Content-Length: 10000000\r\n\r\nabc".encode()
            )
            site, _ = server.accept()
            with site:
                site.sendall(
                    b"HTTP/1.1 413 Too large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                )
                assert read_answer(client)[0].startswith(b"HTTP/1.1 413 ")
    kinds = [
        entry.event.event
        for entry in lane.trace.entries
        if entry.event.event in ("request", "response")
    ]
    assert kinds == ["request", "response"]
    assert lane.proxy.broken is None


def test_a_call_goes_on_under_a_rule_that_leaves_its_next_message_alone(
    begin: Begin,
) -> None:
    second = scenario(HttpError(status=503), trigger=Trigger(nth=(2,)), per="url")
    with socket.create_server(("127.0.0.1", 0)) as server:
        call = (
            f"POST http://127.0.0.1:{server.getsockname()[1]}/rpc HTTP/1.1\r\nHost: x\r\n"
            "Content-Type: application/grpc+proto\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\none\r\n"
        ).encode()
        server.settimeout(5)
        with begin(scenario=second) as lane:
            with socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
                client.sendall(call)
                site, _ = server.accept()
                with site:
                    site.settimeout(5)
                    arrived = b""
                    while not arrived.endswith(b"3\r\none\r\n"):
                        arrived += site.recv(65536)
                    client.sendall(b"3\r\ntwo\r\n0\r\n\r\n")
                    while not arrived.endswith(b"two\r\n0\r\n\r\n"):
                        arrived += site.recv(65536)
                    site.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    assert read_answer(client) == (ANY, b"ok")
            with socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
                client.sendall(call + b"0\r\n\r\n")
                assert read_answer(client)[0].startswith(b"HTTP/1.1 503 ")
    assert [seen.size for seen in lane.events(RequestSeen)] == [6, 3]
    assert [hit.ordinal for hit in lane.events(FaultPlanned)] == [2]
    assert lane.proxy.broken is None


def ledger(lane: Lane) -> tuple[FaultPlanned, FaultDelivered | FaultMissed]:
    """The planned injection and what became of it, where there is one."""
    planned, settled = (
        entry.event
        for entry in lane.trace.entries
        if isinstance(entry.event, FaultPlanned | FaultDelivered | FaultMissed)
    )
    assert isinstance(planned, FaultPlanned)
    assert isinstance(settled, FaultDelivered | FaultMissed)
    return planned, settled
