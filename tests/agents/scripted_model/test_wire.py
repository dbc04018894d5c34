import json
from typing import Any

import pytest
from pydantic import JsonValue

from tests.llm.families.vectors import Vector, vectors
from warex.agents.scripted_model.playbook import ScriptedAnswer
from warex.agents.scripted_model.reading import text
from warex.agents.scripted_model.wire import (
    ApiRequest,
    BadRequest,
    parse_request,
    serialize_answer,
    usage,
)
from warex.llm import LLM_APIS, LlmAnswer, LlmApi, read_answer

PATH = "/v1/chat/completions"
MESSAGES: list[JsonValue] = [{"role": "user", "content": "x" * 9}]
CLICK = ScriptedAnswer(tool="click", arguments='{"ref": "7"}')

each_family = pytest.mark.parametrize("family", LLM_APIS, ids=lambda family: family.name)


def body(**other: Any) -> bytes:
    return json.dumps({"model": "scripted:patient", "messages": MESSAGES, **other}).encode()


def calls(family: LlmApi) -> list[Vector]:
    """One call for each of the API's paths and bodies that has a message of its own."""
    every = {(v.path, v.sent): v for v in vectors(family.name)}.values()
    return [v for v in every if v.recognised().messages]


def read(asked: ApiRequest, answer: ScriptedAnswer) -> LlmAnswer:
    written = serialize_answer(asked, answer)
    kind = written.headers["content-type"]
    return read_answer(asked.request, written.status, kind, written.body)


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        (b"{", 400, "not valid JSON"),
        (b"[" * 100_000, 400, "not valid JSON"),
        (b"[]", 400, "not a JSON object"),
        (body(model=7), 400, "'model' is missing"),
        (body(model="gpt-4o"), 404, "there are scripted:giveup"),
        (body(messages=[]), 400, "'messages' is missing"),
        (body(messages=["hello"]), 400, "not an object"),
    ],
)
def test_a_bad_request_is_refused_in_a_sentence(sent: bytes, status: int, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as refused:
        parse_request(PATH, sent)

    assert refused.value.status == status
    assert refused.value.body["error"]["message"] == str(refused.value)


def test_a_path_of_no_api_is_not_found() -> None:
    with pytest.raises(BadRequest, match="There is no POST /v1/embeddings") as refused:
        parse_request("/v1/embeddings?a=1", body())

    assert refused.value.status == 404


@each_family
def test_each_api_is_answered_in_its_own_form_streamed_or_not(family: LlmApi) -> None:
    vectors = calls(family)
    assert {v.recognised().stream for v in vectors} == {True, False}
    for vector in vectors:
        asked = parse_request(vector.path, vector.sent, any_model=True)
        answer, called = (
            read(asked, ScriptedAnswer("Step 1: look.\nclick('12')")),
            read(asked, CLICK),
        )

        assert (answer.text, answer.finish, answer.complete) == (
            "Step 1: look.\nclick('12')",
            "stop",
            True,
        )
        (call,) = called.tool_calls
        assert (call.name, json.loads(call.arguments)) == ("click", {"ref": "7"})
        assert called.complete


@each_family
def test_what_is_asked_over_each_api_is_read(family: LlmApi) -> None:
    for vector in calls(family):
        asked = parse_request(vector.path, vector.sent, any_model=True)
        if "Buy milk." in vector.sent.decode():
            assert "Buy milk." in "\n".join(map(text, asked.messages))


def test_tokens_are_a_quarter_of_each_messages_characters_rounded_up() -> None:
    counted = usage("openai_chat", MESSAGES, "12345")

    assert (counted.input_total, counted.output_total) == (3, 2)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (PATH, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
        (
            "/v1/messages",
            {
                "type": "tool_result",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
                    }
                ],
            },
        ),
    ],
)
def test_a_pictures_tokens_do_not_depend_on_its_size(path: str, content: dict[str, Any]) -> None:
    sent = body(messages=[{"role": "user", "content": [content]}], max_tokens=1)

    request = parse_request(path, sent).request
    assert usage(request.api, request.messages, "").input_total == 85


def test_a_stream_has_its_usage_only_if_the_request_asks_for_it() -> None:
    bare = serialize_answer(parse_request(PATH, body(stream=True)), ScriptedAnswer("hi"))
    options = {"include_usage": True}
    written = serialize_answer(
        parse_request(PATH, body(stream=True, stream_options=options)), ScriptedAnswer("hi")
    )

    assert b'"usage"' not in bare.body
    assert b'"choices": []' in written.body


def test_the_same_request_gets_the_same_bytes() -> None:
    answer = ScriptedAnswer("noop()")
    assert serialize_answer(parse_request(PATH, body()), answer) == serialize_answer(
        parse_request(PATH, body()), answer
    )
