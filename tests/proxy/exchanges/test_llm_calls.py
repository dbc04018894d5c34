"""What a model is asked and answers: a defence on its way, and earlier answers given again."""

import asyncio
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from playwright.sync_api import sync_playwright
from pydantic import JsonValue

from tests.proxy.support.client import H2Client, secure, trusting
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.model import KEY, PATH, Model, client, completion
from tests.proxy.support.origin import Answer, Origin
from warex.engine.http.encoding import decode, encode
from warex.faults.server.http_error import HttpError
from warex.llm.defences import Defence
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.chromium import find_chromium
from warex.scenarios import Trigger
from warex.traces import (
    DefenceApplied,
    FaultDelivered,
    HarnessBroke,
    LlmCall,
    LlmUnread,
    RequestSeen,
    ResponseSeen,
    Tunnel,
    begin_llm_cache,
    publish_answers,
)

pytestmark = pytest.mark.wire

HINT = Defence(name="hint", text='Reload "pages"\nthat fail: é.')
FIRST = Trigger(first=1)
SYSTEM: dict[str, Any] = {"role": "system", "content": "You are an agent."}
USER: dict[str, Any] = {"role": "user", "content": "Buy milk."}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "click", "parameters": {"type": "object"}}}
]


@pytest.fixture
def model(plain: Origin) -> Model:
    return Model(plain)


def post(lane: Lane, model: Model, body: bytes, **headers: str) -> httpx.Response:
    """Send bytes as they are."""
    head = {"content-type": "application/json", "authorization": f"Bearer {KEY}", **headers}
    with httpx.Client(proxy=lane.url) as raw:
        return raw.post(f"{model.base_url}/chat/completions", content=body, headers=head)


def chat(lane: Lane, model: Model, *messages: Any, **more: Any) -> str:
    """Ask by hand; return the answer's text."""
    answer = post(lane, model, json.dumps({"model": "m", "messages": messages, **more}).encode())
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


def defended(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "content": f"{message['content']}\n\n{HINT.text}"}


# ---- a defence


def test_the_text_arrives_once_and_all_else_as_the_client_sent_it(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    def ask(lane: Lane) -> str:
        with client(lane.url, model.base_url, ca) as agent:
            answer = agent.chat.completions.create(
                model="m", messages=[SYSTEM, USER], tools=TOOLS, temperature=0.10, seed=7
            )
            return str(answer.choices[0].message.content)

    with begin() as plainly:
        ask(plainly)
    with begin(defence=HINT) as lane:
        assert ask(lane) == "answer 2"

    bare, changed = (seen.body for seen in model.origin.seen)
    addition = json.dumps(f"\n\n{HINT.text}")[1:-1].encode()
    assert changed == bare.replace(b"You are an agent.", b"You are an agent." + addition)
    assert model.asked[1]["messages"] == [defended(SYSTEM), USER]
    (call,), (sent,) = lane.events(LlmCall), lane.events(RequestSeen)
    assert call.messages == [defended(SYSTEM), USER]
    assert sent.size == len(bare)
    (applied,) = lane.events(DefenceApplied)
    assert (applied.exchange, applied.defence) == (sent.exchange, "hint")
    began = msgspec.to_builtins(lane.trace.entries[0].event)
    assert began["defence"] == {"name": "hint", "text": HINT.text}
    assert plainly.events(DefenceApplied) == []


def test_a_streamed_answer_is_not_held_back(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    model.hold = asyncio.Event()
    with begin(defence=HINT) as lane, client(lane.url, model.base_url, ca) as agent:
        stream = agent.chat.completions.create(model="m", messages=[USER], stream=True)
        words: Iterator[Any] = iter(stream)
        first = next(words).choices[0].delta.content
        # The model waits until this word has been read.
        model.origin.run(model.hold.set)
        rest = [chunk.choices[0].delta.content for chunk in words]

    assert [first, *rest] == ["answer", "1"]
    assert model.asked[0]["messages"] == [{"role": "system", "content": HINT.text}, USER]
    (call,) = lane.events(LlmCall)
    assert (call.complete, call.stream, call.answer) == (True, True, "answer1")


@pytest.mark.parametrize("how", ["gzip", "zstd", "br", "deflate"])
def test_a_compressed_request_is_compressed_again(begin: Begin, model: Model, how: str) -> None:
    body = json.dumps({"model": "m", "messages": [SYSTEM, USER]}).encode()
    compressed = encode(body, how)
    with begin(defence=HINT) as lane:
        assert post(lane, model, compressed, **{"content-encoding": how}).status_code == 200

    (seen,) = model.origin.seen
    assert seen.header("content-encoding") == how
    assert seen.header("content-length") == str(len(seen.body))
    arrived = decode(seen.body, how).body
    assert json.loads(arrived)["messages"] == [defended(SYSTEM), USER]


@pytest.mark.parametrize(
    "how",
    ["br", *(pytest.param(how, marks=pytest.mark.slow) for how in ("gzip", "zstd", "deflate"))],
)
def test_a_cut_compressed_answer_is_read_and_forwarded_unchanged(
    begin: Begin, plain: Origin, how: str
) -> None:
    digits = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(3000)]
    events = [json.dumps({"choices": [{"delta": {"content": word}}]}) for word in digits]
    body = "".join(f"data: {event}\n\n" for event in events).encode()
    compressed = encode(body, how)
    sent = compressed[:-2000]
    head = [(b"content-type", b"text/event-stream"), (b"content-encoding", how.encode())]
    plain.routes[PATH] = Answer(headers=head, body=sent)
    asked = encode(json.dumps({"model": "m", "messages": [USER]}).encode(), how)
    url = f"http://127.0.0.1:{plain.port}{PATH}"
    named = {"content-type": "application/json", "content-encoding": how}

    with (
        begin() as lane,
        httpx.Client(proxy=lane.url) as raw,
        raw.stream("POST", url, content=asked, headers=named) as answer,
    ):
        assert b"".join(answer.iter_raw()) == sent

    (call,) = lane.events(LlmCall)
    assert call.messages == [USER]
    assert "".join(digits).startswith(call.answer)
    assert len(call.answer) > 50_000
    assert (call.complete, call.finish) == (False, "cut")


def test_a_request_in_a_coding_that_is_not_read_is_unread_for_that(
    begin: Begin, plain: Origin
) -> None:
    at_openai = f"http://api.openai.com=http://127.0.0.1:{plain.port}"
    with begin(maps=(at_openai,)) as lane, httpx.Client(proxy=lane.url) as raw:
        named = {"content-encoding": "compress"}
        raw.post(f"http://api.openai.com{PATH}", content=b"abc", headers=named)

    (unread,) = lane.events(LlmUnread)
    assert unread.reason == "its content coding is 'compress', which is not read"


@pytest.mark.slow
def test_a_request_in_several_codings_is_put_in_them_again(begin: Begin, model: Model) -> None:
    body = json.dumps({"model": "m", "messages": [SYSTEM, USER]}).encode()
    codings = "gzip, br"
    with begin(defence=HINT) as lane:
        post(lane, model, encode(body, codings), **{"content-encoding": codings})

    (seen,) = model.origin.seen
    assert seen.header("content-encoding") == codings
    assert seen.header("content-length") == str(len(seen.body))
    arrived = decode(seen.body, codings).body
    assert json.loads(arrived)["messages"] == [defended(SYSTEM), USER]


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["compress", "zstd"])
def test_a_coding_that_cannot_be_read_voids_a_trial_with_a_defence(
    begin: Begin, model: Model, coding: str
) -> None:
    at_openai = f"http://api.openai.com=http://127.0.0.1:{model.origin.port}"
    named, url = {"content-encoding": coding}, f"http://api.openai.com{PATH}"
    begun = begin(defence=HINT, maps=(at_openai,))
    with begun as lane, pytest.raises(httpx.TransportError):
        httpx.post(url, content=b"abc", headers=named, proxy=lane.url)

    assert model.origin.seen == []
    (broke,) = lane.events(HarnessBroke)
    assert "the defence 'hint' cannot be added to a request to api.openai.com: it" in broke.reason
    assert len(lane.events(LlmUnread)) == 1


def test_a_signed_request_is_not_sent_changed_but_voids_the_trial(
    begin: Begin, plain: Origin
) -> None:
    aws = "AWS4-HMAC-SHA256 Credential=AK/x, SignedHeaders=host;x-amz-date, Signature=d2"
    body = json.dumps({"messages": [{"role": "user", "content": [{"text": "hi"}]}]}).encode()
    url = f"http://127.0.0.1:{plain.port}/model/m/converse"
    with begin(defence=HINT) as lane, httpx.Client(proxy=lane.url) as raw:
        raw.post(url, content=body, headers={"authorization": "Bearer k"})
        with pytest.raises(httpx.TransportError):
            raw.post(url, content=body, headers={"authorization": aws})

    (seen,) = plain.seen
    assert json.loads(seen.body)["system"] == [{"text": HINT.text}]
    (broke,) = lane.events(HarnessBroke)
    assert "a request to 127.0.0.1: it is signed (AWS Signature Version 4)" in broke.reason


def test_a_request_without_a_length_gets_the_text_too(begin: Begin, model: Model) -> None:
    body = json.dumps({"model": "m", "messages": [SYSTEM, USER]}).encode()

    def pieces() -> Iterator[bytes]:
        yield body[:10]
        yield body[10:]

    with begin(defence=HINT) as lane, httpx.Client(proxy=lane.url) as raw:
        raw.post(f"{model.base_url}/chat/completions", content=pieces())

    assert model.asked[0]["messages"] == [defended(SYSTEM), USER]


def test_http2_over_tls_gets_the_text(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    secure_h2.routes[PATH] = Answer(
        headers=[(b"content-type", b"application/json")], body=completion("hi")
    )
    body = json.dumps({"model": "m", "messages": [SYSTEM, USER]}).encode()
    with (
        begin(defence=HINT, record="concerned", llm_hosts=("localhost",)) as lane,
        secure(lane.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection,
    ):
        h2 = H2Client(connection, f"localhost:{secure_h2.port}")
        got = h2.wait(h2.ask(PATH, "POST", body, [("content-type", "application/json")]))

    assert (got.status, got.body) == (200, completion("hi"))
    assert json.loads(secure_h2.seen[0].body)["messages"] == [defended(SYSTEM), USER]


def test_an_endpoint_that_is_not_read_is_left_as_it_is(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    with (
        begin(defence=HINT, record="concerned") as lane,
        httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as raw,
    ):
        raw.post(
            f"https://localhost:{secure_h1.port}{PATH}", json={"model": "m", "messages": [USER]}
        )

    assert json.loads(secure_h1.seen[0].body)["messages"] == [USER]
    assert [event.why for event in lane.events(Tunnel)] == ["not_concerned"]
    assert lane.events(DefenceApplied) == []


def test_a_clients_own_repeat_has_the_text_once_and_is_the_same_step(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    model.statuses = [500]
    with begin(defence=HINT) as lane, client(lane.url, model.base_url, ca, retries=1) as agent:
        agent.chat.completions.create(model="m", messages=[SYSTEM, USER])

    assert [asked["messages"] for asked in model.asked] == [[defended(SYSTEM), USER]] * 2
    assert [call.step for call in lane.events(LlmCall)] == [1, 1]
    assert len(lane.events(DefenceApplied)) == 2


@pytest.mark.parametrize("stage", ["request", "response"])
def test_a_fault_strikes_the_same_exchange(begin: Begin, model: Model, stage: str) -> None:
    fault = HttpError.model_validate({"status": 503, "stage": stage})
    rule = scenario(fault, FIRST, match={"url": f"http://127.0.0.1:*{PATH}"})
    body = json.dumps({"model": "m", "messages": [SYSTEM, USER]}).encode()
    with begin(defence=HINT, scenario=rule) as lane:
        assert post(lane, model, body).status_code == 503
        assert post(lane, model, body).status_code == 200

    assert len(lane.events(FaultDelivered)) == 1
    assert [asked["messages"] for asked in model.asked] == [[defended(SYSTEM), USER]] * (
        1 if stage == "request" else 2
    )


def test_a_defence_that_cannot_be_added_voids_the_trial(begin: Begin, model: Model) -> None:
    body = b'{"model": "m", "messages": [{"role": "system", "content": 3}]}'
    with begin(defence=HINT) as lane, pytest.raises(httpx.TransportError):
        post(lane, model, body)

    assert model.asked == []
    (broke,) = lane.events(HarnessBroke)
    assert "the defence 'hint' cannot be added to a request to 127.0.0.1" in broke.reason
    assert broke.reason == f"{lane.proxy.broken}"


def test_what_is_not_an_llm_call_is_unchanged(begin: Begin, model: Model) -> None:
    model.origin.routes["/search"] = Answer()
    body = b'{"model": "m", "messages": [{"role": "system", "content": "x"}]}'
    with begin(defence=HINT) as lane, httpx.Client(proxy=lane.url) as raw:
        raw.post(f"http://127.0.0.1:{model.origin.port}/search", content=body)

    assert model.origin.seen[0].body == body
    assert lane.events(DefenceApplied) == []


# ---- earlier answers


class Cached:
    """Trials of one group, one after the other."""

    def __init__(self, begin: Begin, run: Path) -> None:
        self._begin = begin
        run.mkdir()
        self.cache = begin_llm_cache(run)

    def trial(self, shared: str = "1", **config: Any) -> Any:
        place = {"cache": self.cache, "shared": self.cache / shared}
        return self._begin(llm_cache=place, **config)

    def share(self, lane: Lane, shared: str = "1") -> None:
        publish_answers(lane.out, self.cache / shared)


@pytest.fixture
def group(begin: Begin, tmp_path: Path) -> Cached:
    return Cached(begin, tmp_path / "run")


def test_a_second_trial_is_answered_without_the_model(
    group: Cached, ca: CertificateAuthority, model: Model
) -> None:
    def ask(lane: Lane) -> tuple[str, str | None]:
        with client(lane.url, model.base_url, ca) as agent:
            got = agent.chat.completions.with_raw_response.create(model="m", messages=[USER])
            return got.parse().choices[0].message.content, got.headers.get("x-request-id")

    with group.trial() as first:
        messages = ask(first)
    group.share(first)
    with group.trial() as second:
        assert ask(second) == messages == ("answer 1", "r1")

    assert len(model.asked) == 1
    (before,), (after,) = first.events(LlmCall), second.events(LlmCall)
    assert (before.replayed, before.original_latency_s) == (False, None)
    assert (after.replayed, after.complete, after.input_tokens) == (True, True, 9)
    assert after.original_latency_s is not None
    assert 0 < after.original_latency_s <= before.latency_s
    assert [event.by for event in second.events(ResponseSeen)] == ["cache"]
    assert second.events(ResponseSeen)[0].size == first.events(ResponseSeen)[0].size


@pytest.mark.parametrize("never_ends", [False, True])
def test_a_streamed_answer_is_the_same_stream_again(
    group: Cached, ca: CertificateAuthority, model: Model, *, never_ends: bool
) -> None:
    # The client leaves at the last event, whether the body has ended or not.
    model.never_ends = never_ends

    def ask(lane: Lane) -> list[str]:
        with client(lane.url, model.base_url, ca) as agent:
            stream = agent.chat.completions.create(model="m", messages=[USER], stream=True)
            return [chunk.choices[0].delta.content for chunk in stream]

    with group.trial() as first:
        messages = ask(first)
    group.share(first)
    with group.trial() as second:
        assert ask(second) == messages == ["answer", "1"]

    assert len(model.asked) == 1
    assert second.events(LlmCall)[0].replayed


def test_one_question_asked_twice_gets_two_answers(group: Cached, model: Model) -> None:
    with group.trial() as first:
        assert [chat(first, model, USER) for _ in range(2)] == ["answer 1", "answer 2"]
    group.share(first)
    with group.trial() as second:
        messages = [chat(second, model, USER) for _ in range(3)]

    assert messages == ["answer 1", "answer 2", "answer 3"]
    assert [call.replayed for call in second.events(LlmCall)] == [True, True, False]


def test_after_the_first_difference_the_model_is_asked(group: Cached, model: Model) -> None:
    with group.trial() as first:
        chat(first, model, USER)
        chat(first, model, USER, {"role": "user", "content": "The page is there."})
    group.share(first)
    with group.trial() as second:
        chat(second, model, USER)
        chat(second, model, USER, {"role": "user", "content": "The page says 500."})

    assert [call.replayed for call in second.events(LlmCall)] == [True, False]
    assert model.asked[-1]["messages"][-1]["content"] == "The page says 500."


def test_nothing_is_shared_with_another_folder_or_an_open_trial(
    group: Cached, model: Model
) -> None:
    with group.trial() as first:
        chat(first, model, USER)
        with group.trial() as meanwhile:
            assert chat(meanwhile, model, USER) == "answer 2"
    group.share(first)
    with group.trial("2") as other_repeat:
        assert chat(other_repeat, model, USER) == "answer 3"


def test_a_defended_question_is_another_one(group: Cached, model: Model) -> None:
    with group.trial() as first:
        chat(first, model, SYSTEM, USER)
    group.share(first)
    with group.trial(defence=HINT) as second:
        assert chat(second, model, SYSTEM, USER) == "answer 2"
    group.share(second)
    with group.trial(defence=HINT) as third:
        assert chat(third, model, SYSTEM, USER) == "answer 2"
    assert third.events(LlmCall)[0].messages == [defended(SYSTEM), USER]


def test_questions_that_differ_only_in_a_secret_are_two(group: Cached, model: Model) -> None:
    def with_password(word: str) -> dict[str, JsonValue]:
        arguments = json.dumps({"password": word})
        function: JsonValue = {"name": "fill", "arguments": arguments}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "t", "type": "function", "function": function}],
        }

    with group.trial() as first:
        chat(first, model, USER, with_password("hunter2"))
    group.share(first)
    with group.trial() as second:
        chat(second, model, USER, with_password("hunter3"))

    assert [lane.events(LlmCall)[0].messages for lane in (first, second)] == [
        [USER, with_password("[redacted]")]
    ] * 2
    assert len(model.asked) == 2


@pytest.mark.parametrize("stage", ["request", "response"])
def test_a_fault_strikes_a_call_that_has_an_earlier_answer(
    group: Cached, model: Model, stage: str
) -> None:
    with group.trial() as first:
        chat(first, model, USER)
        chat(first, model, USER)
    group.share(first)
    fault = HttpError.model_validate({"status": 503, "stage": stage})
    rule = scenario(fault, FIRST, match={"url": f"http://127.0.0.1:*{PATH}"})
    body = json.dumps({"model": "m", "messages": [USER]}).encode()
    with group.trial(scenario=rule) as second:
        assert post(second, model, body).status_code == 503
        # What a fault kept from the model was not asked; what it spoilt was.
        assert chat(second, model, USER) == ("answer 1" if stage == "request" else "answer 2")

    assert len(model.asked) == 2
    assert len(second.events(FaultDelivered)) == 1
    assert [event.by for event in second.events(ResponseSeen)] == ["warex", "cache"]


def test_only_whole_good_answers_are_kept(group: Cached, model: Model) -> None:
    body = json.dumps({"model": "m", "messages": [USER]}).encode()
    model.statuses = [429]
    with group.trial() as first:
        assert post(first, model, body).status_code == 429
        assert chat(first, model, USER) == "answer 2"
        model.origin.routes[PATH] = Answer(
            raw=b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n"
            b'Connection: close\r\n\r\n{"choices": [{"index": 0, "message": {"content": "cut'
        )
        with pytest.raises(httpx.TransportError):
            chat(first, model, USER)
    group.share(first)
    asked = len(model.asked)
    Model(model.origin)
    with group.trial() as second:
        assert chat(second, model, USER) == "answer 2"
        assert chat(second, model, USER) == f"answer {asked + 1}"
    assert len(list((group.cache / "1").iterdir())) == 1


def test_an_answer_with_a_secret_in_it_is_not_kept(group: Cached, model: Model) -> None:
    body = json.dumps({"choices": [{"index": 0, "message": {"content": f"use {KEY}"}}]})
    model.origin.routes[PATH] = Answer(
        body=body.encode(),
        headers=[
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ],
    )
    with group.trial() as first:
        assert KEY in chat(first, model, USER)
    group.share(first)
    Model(model.origin)

    with group.trial() as second:
        assert chat(second, model, USER).startswith("answer ")


def test_neither_keys_nor_cookies_nor_questions_are_on_the_disk(
    group: Cached, model: Model
) -> None:
    with group.trial() as lane:
        assert chat(lane, model, {"role": "user", "content": "a question of mine"})
    group.share(lane)

    retained = [path for path in group.cache.rglob("*") if path.is_file()]
    assert any(b"answer 1" in path.read_bytes() for path in retained)
    for path in (*retained, *(path for path in lane.out.rglob("*") if path.is_file())):
        content = path.read_bytes()
        assert KEY.encode() not in content
        assert b"hush-hush" not in content
    assert not any(b"a question of mine" in path.read_bytes() for path in retained)


def test_the_secret_is_not_in_the_trace(group: Cached, model: Model) -> None:
    with group.trial() as lane:
        chat(lane, model, USER)
    group.share(lane)
    secret = (group.cache / ".secret").read_bytes()
    trace = (lane.out / "events.jsonl").read_bytes()

    assert secret not in trace
    assert secret.hex().encode() not in trace


def test_a_damaged_answer_voids_the_trial_and_is_named(group: Cached, model: Model) -> None:
    with group.trial() as first:
        chat(first, model, USER)
    group.share(first)
    (retained,) = (group.cache / "1").iterdir()
    os.truncate(retained, 5)

    with group.trial() as second, pytest.raises(httpx.TransportError):
        chat(second, model, USER)
    assert f"{retained} is not a kept answer" in second.events(HarnessBroke)[0].reason


# ---- a site that has a model of its own


def test_a_pages_call_is_its_sites_and_an_extensions_the_agents(begin: Begin, model: Model) -> None:
    body = json.dumps({"model": "m", "messages": [USER]}).encode()
    with begin(scenario=scenario(HttpError(status=503), FIRST), defence=HINT) as lane:
        page = post(lane, model, body, origin="http://chat.example", **{"sec-fetch-dest": "empty"})
        own = post(lane, model, body, origin="chrome-extension://abc")
    with begin(llm_hosts=("127.0.0.1",)) as named:
        post(named, model, body, origin="http://chat.example")

    assert (page.status_code, own.status_code) == (503, 200)
    (call,) = lane.events(LlmCall)
    assert call.messages[-1] == USER
    assert lane.events(LlmUnread) == []
    assert len(named.events(LlmCall)) == 1


@pytest.mark.browser
@pytest.mark.slow
def test_a_chat_page_in_a_browser_makes_no_call_of_the_agents(begin: Begin, model: Model) -> None:
    asks = """url => fetch(url, {method: "POST", body: JSON.stringify(
        {model: "m", messages: [{role: "user", content: "hi"}]})}).then(answer => answer.text())"""
    with begin() as lane, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_chromium()),
            args=["--no-sandbox", "--proxy-bypass-list=<-loopback>"],
            proxy={"server": lane.url},
        )
        tab = browser.new_page()
        tab.goto(f"{model.base_url}/chat")
        answer = tab.evaluate(asks, f"{model.base_url}/chat/completions")
        browser.close()

    assert '"answer ' in answer
    assert [seen.url for seen in lane.events(RequestSeen) if seen.method == "POST"] == [
        f"{model.base_url}/chat/completions"
    ]
    assert (lane.events(LlmCall), lane.events(LlmUnread)) == ([], [])
