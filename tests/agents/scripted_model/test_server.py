import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from warex.agents.reference.prompt import Observation, messages
from warex.agents.scripted_model.server import ScriptedModel
from warex.agents.scripted_model.tasks import OracleStep, Task, Tasks

if TYPE_CHECKING:
    # Listing tests does without: it takes a second to load.
    import openai

pytestmark = pytest.mark.wire

TASKS = Tasks((Task("t", "Go on", (OracleStep("p", "click", "link", "On"),)),))
ASKED: Any = messages("Go on", Observation("u", "t", "[7] link 'On'"), [])
ANSWER = "Step 1: click the link 'On'.\nclick('7')"


@pytest.fixture
def address() -> Iterator[str]:
    with ScriptedModel(TASKS) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@pytest.fixture
def client(address: str) -> "Iterator[openai.OpenAI]":
    import openai

    with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def http(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, trust_env=False) as http:
        yield http


def test_the_openai_client_gets_an_answer_with_its_tokens(client: "openai.OpenAI") -> None:
    answer = client.chat.completions.create(model="scripted:patient", messages=ASKED)
    assert answer.choices[0].message.content == ANSWER
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    asked = sum(-(-len(message["content"]) // 4) for message in ASKED)
    assert answer.usage.prompt_tokens == asked
    assert answer.usage.completion_tokens == -(-len(ANSWER) // 4)
    assert answer.usage.total_tokens == asked + answer.usage.completion_tokens


def test_a_streamed_answer_is_the_same_and_ends_with_the_usage(client: "openai.OpenAI") -> None:
    full = client.chat.completions.create(model="scripted:patient", messages=ASKED)
    with client.chat.completions.create(
        model="scripted:patient",
        messages=ASKED,
        stream=True,
        stream_options={"include_usage": True},
    ) as stream:
        chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == ANSWER
    assert chunks[-1].choices == []
    assert chunks[-1].usage == full.usage
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_a_stream_has_no_usage_unless_it_was_asked_for(client: "openai.OpenAI") -> None:
    with client.chat.completions.create(
        model="scripted:patient", messages=ASKED, stream=True
    ) as stream:
        chunks = list(stream)
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


def test_a_stream_is_events_up_to_done(http: httpx.Client) -> None:
    body = {"model": "scripted:giveup", "messages": ASKED, "stream": True}
    answer = http.post("/chat/completions", json=body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.startswith('data: {"id": "chatcmpl-')
    assert answer.text.endswith("data: [DONE]\n\n")


def test_the_models_are_listed(client: "openai.OpenAI") -> None:
    assert [model.id for model in client.models.list()] == [
        "scripted:giveup",
        "scripted:patient",
        "scripted:suggestible",
    ]


def test_an_unknown_model_is_not_found_as_at_openai(client: "openai.OpenAI") -> None:
    import openai

    with pytest.raises(openai.NotFoundError) as refused:
        client.chat.completions.create(model="gpt-9", messages=ASKED)
    assert refused.value.code == "model_not_found"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"model": 1}',
        b'{"model": "scripted:giveup"}',
        b'{"model": "scripted:giveup", "messages": []}',
        b'{"model": "scripted:giveup", "messages": ["hi"]}',
    ],
)
def test_refusing_a_body_keeps_the_connection_open(http: httpx.Client, body: bytes) -> None:
    answer = http.post("/chat/completions", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert http.get("/models").status_code == 200


def test_an_invalid_length_is_refused_in_words(address: str) -> None:
    parts = urlsplit(address)
    for length in ("-1", "9" * 5000, "1, 1"):
        connection = HTTPConnection(str(parts.hostname), parts.port, timeout=30)
        connection.putrequest("POST", "/v1/chat/completions")
        connection.putheader("Content-Length", length)
        connection.endheaders()
        answer = connection.getresponse()
        assert (answer.status, b"Content-Length is" in answer.read()) == (400, True)
        connection.close()


def test_other_paths_are_not_found(http: httpx.Client) -> None:
    assert http.get("/chat/completions").status_code == 404
    assert http.post("/models", json={}).json()["error"]["message"]


def test_the_same_request_always_gets_the_same_bytes(http: httpx.Client) -> None:
    body = json.dumps({"model": "scripted:patient", "messages": ASKED})
    other = json.dumps({"model": "scripted:patient", "messages": ASKED[:1]})
    first = http.post("/chat/completions", content=body).content
    http.post("/chat/completions", content=other)
    assert http.post("/chat/completions", content=body).content == first
