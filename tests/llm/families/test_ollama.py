import json

import pytest

from tests.llm.detached_images import detached
from warex.llm import recognise
from warex.llm.families.ollama import Ollama

FAMILY = Ollama()
PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/chat", {"model": "m"}),
        ("/api/chat", {"model": "m", "messages": []}),
        ("/api/chat", {"messages": [{"role": "user", "content": "hi"}]}),
        ("/api/chat", {"model": "m", "messages": [{"text": "hi"}]}),
        ("/api/generate", {"model": "m", "keep_alive": "1h"}),
        ("/api/generate", {"model": "m", "prompt": ""}),
        ("/api/generate", {"prompt": "hi"}),
        ("/api/embed", {"model": "m", "input": "hi"}),
    ],
)
def test_requests_without_a_model_are_not_calls(path: str, body: object) -> None:
    assert recognise("POST", path, "application/json", json.dumps(body).encode()) is None


def test_ollamas_other_apis_belong_to_their_families() -> None:
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}
    paths = ("/v1/chat/completions", "/v1/messages")
    asked = [recognise("POST", path, "", json.dumps(body).encode()) for path in paths]

    assert [a and a.api for a in asked] == ["openai_chat", "anthropic_messages"]


@pytest.mark.parametrize(
    ("sent", "become"),
    [
        ('{"prompt": "a", "n":1e0}', '{"system": "b", "prompt": "a", "n":1e0}'),
        ('{"prompt": "a", "system":"s"}', '{"prompt": "a", "system":"s\\n\\nb"}'),
        ('{"messages":[]}', '{"messages":[{"role": "system", "content": "b"}]}'),
        (
            '{"messages":[{"role":"system","content":"s"}]}',
            '{"messages":[{"role":"system","content":"s\\n\\nb"}]}',
        ),
    ],
)
def test_a_text_joins_the_system_prompt_of_either_form(sent: str, become: str) -> None:
    assert FAMILY.append_to_system_prompt(sent.encode(), "b").decode() == become


@pytest.mark.parametrize(
    "body",
    [
        b'{"system": 3}',
        b'{"messages": 3}',
        b'{"messages": [{"role": "system"}]}',
        b'{"prompt": "[INST] a", "raw": true}',
        b"[",
    ],
)
def test_a_system_prompt_that_is_not_understood_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"neither|no messages|raw|EOF"):
        FAMILY.append_to_system_prompt(body, "b")


def test_images_are_kept_apart() -> None:
    sent = [{"role": "user", "content": "Look.", "images": [PIXEL, PIXEL, "not base64!"]}]

    messages, blobs = detached(json.loads(json.dumps(sent)), FAMILY.images)

    (digest,) = blobs
    retained = f"blob:sha256/{digest}"
    assert messages == [
        {"role": "user", "content": "Look.", "images": [retained, retained, "not base64!"]}
    ]
