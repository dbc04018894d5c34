"""Tokens are asked of the trainer's server and recorded, and the agent sees nothing of it."""

import json
from typing import Any

import httpx
import pytest

from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.model import KEY, client
from tests.proxy.support.origin import Origin
from tests.proxy.support.token_model import PROMPT_IDS, WORDS, TokenModel
from warex.faults.llm.llm_cut import LlmCut
from warex.faults.llm.llm_error import LlmError
from warex.llm.tokens import CallTokens
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, LlmCall
from warex.traces.blobs import BlobStore

pytestmark = pytest.mark.wire

HOST = "127.0.0.1"
MESSAGES: list[Any] = [{"role": "user", "content": "Which button? é"}]
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "click", "parameters": {"type": "object"}}}
]
IDS = [id for _, id, _ in WORDS]
LOGPROBS = [logprob for _, _, logprob in WORDS]


def body(**more: Any) -> bytes:
    return json.dumps({"model": "policy", "messages": MESSAGES, **more}).encode()


def post(url: str | None, model: TokenModel, sent: bytes) -> httpx.Response:
    head = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    with httpx.Client(proxy=url) as raw:
        return raw.post(f"{model.base_url}/chat/completions", content=sent, headers=head)


def tokens_of(lane: Lane) -> list[CallTokens]:
    blobs = BlobStore(lane.out / "blobs")
    return [CallTokens.read(blobs.get(it.tokens_blob)) for it in lane.events(LlmCall)]


REQUESTS: list[dict[str, Any]] = [
    {},
    {"n": 2},
    {"tools": TOOLS},
    {"logprobs": False, "return_token_ids": None},
]


def test_the_agent_gets_the_bytes_that_it_would_get_without_the_capture(
    begin: Begin, plain: Origin
) -> None:
    model = TokenModel(plain)
    requests = [{**it, "stream": stream} for it in REQUESTS for stream in (False, True)]
    direct = [post(None, model, body(**it)) for it in requests]
    with begin(capture_tokens=(HOST,)) as lane:
        captured = [post(lane.url, model, body(**it)) for it in requests]
    for request, one, other in zip(requests, direct, captured, strict=True):
        assert other.content == one.content, request
        assert other.headers.get("content-length") == one.headers.get("content-length")
    calls = tokens_of(lane)
    for request, call in zip(requests, calls, strict=True):
        assert call.prompt_token_ids == PROMPT_IDS, request
        assert [it.index for it in call.choices] == list(range(request.get("n", 1)))
        for choice in call.choices:
            assert (choice.token_ids, choice.logprobs) == (IDS, LOGPROBS), request


@pytest.mark.slow
def test_the_openai_package_reads_the_same_answer(
    begin: Begin, ca: CertificateAuthority, plain: Origin
) -> None:
    model = TokenModel(plain)

    asked: list[dict[str, Any]] = [{}, {"n": 2}, {"tools": TOOLS}]
    seen: list[list[Any]] = []
    for options in ({}, {"capture_tokens": (HOST,)}):
        with begin(**options) as lane, client(lane.url, model.base_url, ca) as sdk:

            def ask(sdk: Any = sdk, **more: Any) -> Any:
                return sdk.chat.completions.create(model="policy", messages=MESSAGES, **more)

            wholes = [ask(**it).model_dump() for it in asked]
            streams = [[chunk.model_dump() for chunk in ask(stream=True, **it)] for it in asked]
        seen.append([wholes, streams])
    assert seen[0] == seen[1]
    assert len(tokens_of(lane)) == 6


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_what_the_agent_asks_for_itself_stays(begin: Begin, plain: Origin, stream: bool) -> None:
    model = TokenModel(plain)
    for asked in ({"logprobs": True}, {"return_token_ids": True}):
        sent = body(stream=stream, **asked)
        direct = post(None, model, sent)
        with begin(capture_tokens=(HOST,)) as lane:
            assert post(lane.url, model, sent).content == direct.content
        assert tokens_of(lane)[0].choices[0].logprobs == LOGPROBS


@pytest.mark.slow
def test_openais_dialect_has_log_probabilities_and_the_tokens_texts(
    begin: Begin, plain: Origin
) -> None:
    model = TokenModel(plain)
    direct = post(None, model, body())
    with begin(capture_tokens=(f"{HOST}=openai",)) as lane:
        assert post(lane.url, model, body()).content == direct.content
    assert "return_token_ids" not in model.asked[-1]
    (call,) = tokens_of(lane)
    assert (call.prompt_token_ids, call.choices[0].token_ids) == ([], [])
    assert call.choices[0].tokens == [text for text, _, _ in WORDS]
    assert call.choices[0].logprobs == LOGPROBS


def test_without_tokens_there_is_a_sentence_and_the_answer_passes(
    begin: Begin, plain: Origin
) -> None:
    model = TokenModel(plain, has_tokens=False)
    sent = (body(), body(stream=True), body(top_logprobs=3))
    direct = [post(None, model, it).content for it in sent]
    with begin(capture_tokens=(HOST,)) as lane:
        assert [post(lane.url, model, it).content for it in sent] == direct
    calls = lane.events(LlmCall)
    assert [it.tokens_blob for it in calls] == ["", "", ""]
    assert [it.tokens_error for it in calls] == [
        "the model server returned no log-probabilities",
        "the model server returned no log-probabilities",
        "it asks for top_logprobs without logprobs, which its API refuses",
    ]


@pytest.mark.slow
def test_an_error_passes_as_it_is(begin: Begin, plain: Origin) -> None:
    model = TokenModel(plain, status=503)
    direct = post(None, model, body())
    with begin(capture_tokens=(HOST,)) as lane:
        assert post(lane.url, model, body()).content == direct.content
    (call,) = lane.events(LlmCall)
    assert (call.status, call.tokens_blob, call.tokens_error) == (503, "", None)


@pytest.mark.slow
def test_another_api_and_another_host_are_left_alone(begin: Begin, plain: Origin) -> None:
    model = TokenModel(plain)
    with begin(capture_tokens=("model.example",)) as lane:
        post(lane.url, model, body())
    assert model.asked == [json.loads(body())]
    assert [it.tokens_error for it in lane.events(LlmCall)] == [None]
    with begin(capture_tokens=(HOST,)) as lane, httpx.Client(proxy=lane.url) as raw:
        url = f"http://{HOST}:{plain.port}/v1/messages"
        asked = {"model": "m", "max_tokens": 9, "messages": MESSAGES}
        assert raw.post(url, json=asked).text == "hello"
    (call,) = lane.events(LlmCall)
    assert call.tokens_error == (
        "tokens are captured from openai_chat alone, and the call is of anthropic_messages"
    )


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_a_fault_changes_the_answer_that_has_no_tokens(
    begin: Begin, plain: Origin, stream: bool
) -> None:
    model = TokenModel(plain)
    direct = post(None, model, body(stream=stream)).content
    cut = scenario(LlmCut(share=0.5, how="clean"), Trigger(first=1))
    with begin(scenario=cut, capture_tokens=(HOST,)) as lane:
        received = post(lane.url, model, body(stream=stream)).content
    assert direct.startswith(received)
    assert 0 < len(received) < len(direct)
    assert len(lane.events(FaultDelivered)) == 1
    assert not lane.events(LlmCall)[0].complete
    assert tokens_of(lane)[0].choices[0].token_ids == IDS


@pytest.mark.slow
def test_an_answer_of_a_fault_has_no_tokens_and_no_error(begin: Begin, plain: Origin) -> None:
    model = TokenModel(plain)
    hit = scenario(LlmError(error="server_error"), Trigger(first=1))
    with begin(scenario=hit, capture_tokens=(HOST,)) as lane:
        assert post(lane.url, model, body()).status_code == 500
    (call,) = lane.events(LlmCall)
    assert (call.tokens_blob, call.tokens_error) == ("", None)
