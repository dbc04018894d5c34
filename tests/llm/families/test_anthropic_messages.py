import json

import pytest

from tests.llm.detached_images import detached
from warex.llm import Usage, read_answer, recognise
from warex.llm.families.anthropic_messages import AnthropicMessages

FAMILY = AnthropicMessages()
TEXT = 'Mind "errors".\n'
PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages/count_tokens", {"model": "m", "max_tokens": 1, "messages": [{}]}),
        ("/v1/messages/batches", {"requests": [{"params": {}}]}),
        ("/v1/threads/t_1/messages", {"role": "user", "content": "hi"}),
        ("/v1/messages", {"model": "m", "messages": [{"role": "user", "content": "hi"}]}),
        ("/v1/messages", {"max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}),
        ("/v1/messages", {"model": "m", "max_tokens": 1, "messages": "hi"}),
        ("/p/google/models/x:rawPredict", {"instances": [], "max_tokens": 1, "messages": [{}]}),
        (
            "/p/mistralai/models/mistral-small:rawPredict",
            {"model": "mistral-small", "max_tokens": 1, "messages": [{"role": "user"}]},
        ),
    ],
)
def test_other_requests_are_not_recognised_as_calls(path: str, body: object) -> None:
    assert recognise("POST", path, "application/json", json.dumps(body).encode()) is None


@pytest.mark.parametrize(
    ("sent", "become"),
    [
        ('{ "max_tokens":1e0}', '{"system": TEXT,  "max_tokens":1e0}'),
        ("{}", '{"system": TEXT}'),
        ('{"system":""}', '{"system":TEXT}'),
        ('{"system":null}', '{"system":TEXT}'),
        ('{"system":[]}', '{"system":[{"type": "text", "text": TEXT}]}'),
    ],
    ids=["none", "empty object", "empty", "null", "no blocks"],
)
def test_a_text_becomes_the_missing_system_prompt(sent: str, become: str) -> None:
    changed = FAMILY.append_to_system_prompt(sent.encode(), TEXT)

    assert changed.decode() == become.replace("TEXT", json.dumps(TEXT))


def test_a_text_joins_a_system_prompt_as_its_end() -> None:
    assert FAMILY.append_to_system_prompt(b'{"system":"a"}', "b") == b'{"system":"a\\n\\nb"}'
    cached = b'{"system":[{"type":"text","text":"a","cache_control":{}}]}'
    added = b', {"type": "text", "text": "\\n\\nb"}]}'
    assert FAMILY.append_to_system_prompt(cached, "b") == cached[:-2] + added


@pytest.mark.parametrize("body", [b'{"system": 3}', b'{"system": ["a"]}', b"[]", b"{", b"\xff"])
def test_a_system_prompt_that_is_not_understood_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"neither|object|Expecting|utf-8"):
        FAMILY.append_to_system_prompt(body, TEXT)


def test_images_of_messages_and_of_tools_are_kept_apart() -> None:
    def image(data: str) -> dict[str, object]:
        source = {"type": "base64", "media_type": "image/png", "data": data}
        return {"type": "image", "source": source}

    link = {"type": "image", "source": {"type": "url", "url": "https://shop.example/a.png"}}
    result = {"type": "tool_result", "content": [image(PIXEL)]}
    sent = [{"role": "user", "content": [image(PIXEL), link, result]}]

    messages, blobs = detached(json.loads(json.dumps(sent)), FAMILY.images)

    (digest,) = blobs
    assert blobs[digest].startswith(b"\x89PNG")
    assert PIXEL not in json.dumps(messages)
    assert json.dumps(messages).count(f"blob:sha256/{digest}") == 2
    assert "https://shop.example/a.png" in json.dumps(messages)


def test_a_stream_may_report_its_usage_only_at_the_end() -> None:
    body = b"""data: {"type": "message_start", "message": {"content": [], "model": "m"}}

data: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}

data: {"type": "message_stop"}

"""
    sent = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}
    request = recognise("POST", "/v1/messages", "", json.dumps(sent).encode())
    assert request is not None

    assert read_answer(request, 200, "", body).usage == Usage(0, 3)
