import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from warex.training.inference.batching import Batcher, Generation, GenerationRequest
from warex.training.inference.server import RequestDefaults, application
from warex.training.model.loading import LoadedModel

pytestmark = pytest.mark.slow
"""The web framework comes with the extra, which only the slow tier's set-up installs."""

NAMES: dict[str, str | None] = {"base": None, "tuned": "adapter-1"}


class Tokenizer:
    """Writes messages as their contents, and counts words."""

    def apply_chat_template(self, messages: list[dict[str, Any]], **more: Any) -> str:
        if messages[0]["role"] == "strange":
            raise ValueError("roles must alternate")
        return " ".join(str(message["content"]) for message in messages)

    def __call__(self, text: str, **more: Any) -> dict[str, list[str]]:
        return {"input_ids": text.split()}


class Config:
    max_position_embeddings = 20


class Model:
    config = Config()


class Echo(Batcher):
    """Sends its answer from a thread of its own."""

    def __init__(self) -> None:
        super().__init__(LoadedModel(Model(), Tokenizer(), "cpu", "base"))
        self.asked: list[GenerationRequest] = []
        self.answer: Callable[[GenerationRequest], None] = say("He", "Hello")

    def ask(self, wanted: GenerationRequest) -> None:
        self.asked.append(wanted)
        threading.Thread(target=self.answer, args=(wanted,)).start()


def say(*texts: str) -> Callable[[GenerationRequest], None]:
    def answer(wanted: GenerationRequest) -> None:
        for at, text in enumerate(texts, 1):
            wanted.deliver(Generation(text, at, "stop" if at == len(texts) else None))

    return answer


@pytest.fixture
async def server() -> AsyncIterator[tuple[httpx.AsyncClient, Echo]]:
    batcher = Echo()
    transport = httpx.ASGITransport(application(batcher, NAMES))
    async with httpx.AsyncClient(transport=transport, base_url="http://server/v1") as client:
        yield client, batcher


type Server = tuple[httpx.AsyncClient, Echo]


def hello(**more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hi there"}], **more}


async def test_a_completion_is_answered_as_openai_does(server: Server) -> None:
    client, batcher = server
    answer = await client.post("/chat/completions", json=hello(model="base", temperature=0))

    completion = answer.json()
    assert completion["object"] == "chat.completion"
    assert completion["model"] == "base"
    assert completion["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello"},
            "finish_reason": "stop",
        }
    ]
    assert completion["usage"] == {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4}
    assert (batcher.asked[0].adapter, batcher.asked[0].temperature) == (None, 0)


async def test_a_request_without_model_gets_the_last_and_unknown_is_refused(
    server: Server,
) -> None:
    client, batcher = server
    assert (await client.post("/chat/completions", json=hello())).json()["model"] == "tuned"
    assert batcher.asked[0].adapter == "adapter-1"

    refused = await client.post("/chat/completions", json=hello(model="gpt-4o"))
    assert refused.status_code == 404
    assert refused.json()["error"]["code"] == "model_not_found"
    assert "served are base, tuned" in refused.json()["error"]["message"]
    models = (await client.get("/models")).json()["data"]
    assert [model["id"] for model in models] == ["base", "tuned"]


async def test_what_a_client_leaves_out_is_the_servers_default() -> None:
    batcher = Echo()
    transport = httpx.ASGITransport(application(batcher, NAMES, RequestDefaults(12, 0.0)))
    async with httpx.AsyncClient(transport=transport, base_url="http://server/v1") as client:
        await client.post("/chat/completions", json=hello())
        await client.post("/chat/completions", json=hello(temperature=0.7, max_tokens=5))

    assert [(it.temperature, it.max_tokens) for it in batcher.asked] == [(0.0, 12), (0.7, 5)]


async def test_a_stream_brings_each_text_once_and_the_usage_where_it_is_wanted(
    server: Server,
) -> None:
    client, _ = server
    body = hello(stream=True, stream_options={"include_usage": True})
    answer = await client.post("/chat/completions", json=body)

    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    assert lines.pop() == "[DONE]"
    events = [json.loads(line) for line in lines]
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == "Hello"
    assert events[-2]["choices"][0]["finish_reason"] == "stop"
    assert events[-1]["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_of_a_tool_is_sent_as_one(server: Server, stream: bool) -> None:
    client, batcher = server
    batcher.answer = say("<tool", '<tool_call>{"name": "click", "arguments": {}}</tool_call>')
    tools = [{"type": "function", "function": {"name": "click"}}]
    answer = await client.post("/chat/completions", json=hello(tools=tools, stream=stream))

    assert '"tool_calls"' in answer.text
    assert "<tool" not in answer.text
    assert '"finish_reason":"tool_calls"' in answer.text.replace(" ", "")


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (b"{", 400, "Invalid JSON"),
        (b'{"messages": []}', 400, "messages"),
        (json.dumps(hello(n=2)).encode(), 400, "n: Input should be 1"),
        (json.dumps(hello(temperature=3)).encode(), 400, "temperature"),
        (json.dumps(hello(max_tokens=19)).encode(), 400, "context is 20 tokens"),
        (b'{"messages": [{"role": "strange", "content": ""}]}', 400, "roles must alternate"),
        (
            b'{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}',
            400,
            "a message has a part 'image_url'",
        ),
        (b" " * (20 * 2**20 + 1), 413, "longer than"),
    ],
)  # fmt: skip
async def test_what_cannot_be_answered_is_refused_in_a_sentence(
    server: Server, body: bytes, status: int, text: str
) -> None:
    answer = await server[0].post("/chat/completions", content=body)

    assert answer.status_code == status
    assert text in answer.json()["error"]["message"]


async def test_text_parts_are_read_as_text(server: Server) -> None:
    client, batcher = server
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    await client.post("/chat/completions", json={"messages": [{"role": "user", "content": parts}]})

    assert batcher.asked[0].prompt == "one\ntwo"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_that_breaks_is_an_error_of_the_server(server: Server, stream: bool) -> None:
    client, batcher = server
    batcher.answer = lambda wanted: wanted.deliver(Generation("", 0, None, "the model broke: x"))

    answer = await client.post("/chat/completions", json=hello(stream=stream))

    assert "the model broke: x" in answer.text
    assert stream or answer.status_code == 500


async def test_a_reader_who_goes_away_is_not_answered_any_more() -> None:
    from warex.training.inference.server import _cancelling

    async def events() -> AsyncIterator[bytes]:
        yield b"a"
        await asyncio.Event().wait()

    wanted = GenerationRequest("", None, 0, 1, 1, (), lambda generated: None)
    reading = _cancelling(events(), wanted)
    await anext(reading)
    await reading.aclose()  # type: ignore[attr-defined]

    assert wanted.cancelled
