import base64
import json

import pytest
from pydantic import JsonValue

from tests.llm.detached_images import detached
from warex.llm import LlmAnswer, read_answer, recognise
from warex.llm.families.gemini import Gemini

FAMILY = Gemini()
TEXT = 'Mind "errors".\n'
PIXEL = base64.b64decode("iVBORw0KGgo=") + b"\xfb\xef\xff\xfe"
ASK = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1beta/models/gemini-2.5-pro:countTokens", ASK),
        ("/v1beta/models/gemini-embedding-001:embedContent", {"content": {"parts": []}}),
        ("/v1beta/models/gemini-2.5-pro:batchGenerateContent", {"batch": {}}),
        ("/v1beta/models/gemini-2.5-pro:generateContent", {"contents": []}),
        ("/v1beta/models/gemini-2.5-pro:generateContent", {"contents": "hi"}),
        ("/v1beta/models/gemini-2.5-pro:generateContent", {"contents": ["hi"]}),
        ("/v1beta/models/gemini-2.5-pro:generateContent", {"prompt": "hi"}),
    ],
)
def test_other_requests_are_not_recognised_as_calls(path: str, body: object) -> None:
    assert recognise("POST", path, "application/json", json.dumps(body).encode()) is None


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1/models/gemini-2.5-pro:generateContent", "gemini-2.5-pro"),
        ("/gw/v1alpha/models/gemini-2.5-pro:generateContent?key=k", "gemini-2.5-pro"),
        ("/v1beta/tunedModels/shop-1:generateContent", "tunedModels/shop-1"),
        ("/v1/publishers/google/models/gemini-3-pro:generateContent", "gemini-3-pro"),
        ("/v1/projects/p/locations/l/endpoints/42:streamGenerateContent", "endpoints/42"),
        ("/v1/models/my%3Amodel:generateContent", "my:model"),
        (":generateContent", ""),
    ],
)
def test_the_path_names_the_model(path: str, model: str) -> None:
    asked = recognise("POST", path, "", json.dumps(ASK).encode())

    assert asked is not None
    assert asked.model == model


@pytest.mark.parametrize(
    ("sent", "become"),
    [
        ('{ "contents":1e0}', '{"systemInstruction": {"parts": [MORE]},  "contents":1e0}'),
        ("{}", '{"systemInstruction": {"parts": [MORE]}}'),
        ('{"systemInstruction":null}', '{"systemInstruction":{"parts": [MORE]}}'),
        ('{"system_instruction":null}', '{"system_instruction":{"parts": [MORE]}}'),
        ('{"systemInstruction":""}', '{"systemInstruction":TEXT}'),
        ('{"systemInstruction":{}}', '{"systemInstruction":{"parts": [MORE]}}'),
        ('{"systemInstruction":{"parts":null}}', '{"systemInstruction":{"parts":[MORE]}}'),
        ('{"system_instruction":{"parts":[]}}', '{"system_instruction":{"parts":[MORE]}}'),
    ],
)
def test_a_text_becomes_the_missing_system_prompt(sent: str, become: str) -> None:
    changed = FAMILY.append_to_system_prompt(sent.encode(), TEXT).decode()

    more = json.dumps({"text": TEXT})
    assert changed == become.replace("MORE", more).replace("TEXT", json.dumps(TEXT))


@pytest.mark.parametrize(
    ("sent", "become"),
    [
        ('{"systemInstruction":"a"}', '{"systemInstruction":"a\\n\\nb"}'),
        ('{"systemInstruction":{"parts":[P]}}', '{"systemInstruction":{"parts":[P, B]}}'),
        ('{"systemInstruction":{"parts":P}}', '{"systemInstruction":{"parts":[P, B]}}'),
        ('{"system_instruction":{"parts":[P]}}', '{"system_instruction":{"parts":[P, B]}}'),
        (
            '{"systemInstruction":null,"system_instruction":{"parts":[P]}}',
            '{"systemInstruction":null,"system_instruction":{"parts":[P, B]}}',
        ),
    ],
)
def test_a_text_joins_a_system_prompt_as_its_end(sent: str, become: str) -> None:
    part, more = '{"text": "a", "n":1e0}', json.dumps({"text": "\n\nb"})

    changed = FAMILY.append_to_system_prompt(sent.replace("P", part).encode(), "b").decode()

    assert changed == become.replace("P", part).replace("B", more)


@pytest.mark.parametrize(
    "body",
    [
        b'{"systemInstruction": 3}',
        b'{"systemInstruction": [{"text": "a"}]}',
        b'{"systemInstruction": {"parts": "a"}}',
        b'{"systemInstruction": {"parts": ["a"]}}',
        b'{"cachedContent": "cachedContents/1"}',
        b"[]",
        b"{",
        b"\xff",
    ],
)
def test_a_system_prompt_that_is_not_understood_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"neither|not understood|object|cache|Expecting|utf-8"):
        FAMILY.append_to_system_prompt(body, TEXT)


def test_images_are_kept_apart_whichever_base64_and_keys_they_are_in() -> None:
    plain = base64.b64encode(PIXEL).decode()
    url_safe = base64.urlsafe_b64encode(PIXEL).decode().rstrip("=")
    screen: JsonValue = {"inlineData": {"mimeType": "image/png", "data": url_safe}}
    parts: JsonValue = [
        {"inlineData": {"mimeType": "image/png", "data": plain}},
        {"inline_data": {"mime_type": "image/png", "data": url_safe}},
        {"functionResponse": {"name": "click_at", "response": {}, "parts": [screen]}},
        {"fileData": {"mimeType": "image/png", "fileUri": "gs://shop/a.png"}},
        {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}},
    ]

    messages, blobs = detached([{"role": "user", "parts": parts}], FAMILY.images)

    (digest,) = blobs
    assert blobs[digest] == PIXEL
    written = json.dumps(messages)
    assert plain not in written
    assert url_safe not in written
    assert written.count(f"blob:sha256/{digest}") == 3
    assert "gs://shop/a.png" in written
    assert "AAAA" in written


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        *((word, "content_filter") for word in ("SAFETY", "RECITATION", "BLOCKLIST", "SPII")),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("UNEXPECTED_TOOL_CALL", "error"),
        ("OTHER", "error"),
        ("SOMETHING_NEW", "stop"),
    ],
)
def test_each_reason_to_end_has_its_word(reason: str, finish: str) -> None:
    request = recognise("POST", "/models/m:generateContent", "", json.dumps(ASK).encode())
    assert request is not None
    body = json.dumps({"candidates": [{"finishReason": reason}]}).encode()

    answer = read_answer(request, 200, "", body)

    assert (answer.finish_reason, answer.finish, answer.complete) == (reason, finish, True)


@pytest.mark.parametrize("query", ["", "?alt=sse"])
def test_a_stream_is_written_in_the_form_that_was_asked_for(query: str) -> None:
    path = f"/models/m:streamGenerateContent{query}"
    request = recognise("POST", path, "", json.dumps(ASK).encode())
    assert request is not None
    half = LlmAnswer("m", "Well, then", complete=False)

    written = FAMILY.write_answer(request, half)

    assert written.body.startswith(b"data: " if query else b"[{")
    assert not read_answer(request, 200, "", written.body).complete
    refused = FAMILY.write_error(request, "rate_limited", 20)
    assert refused.body.startswith(b"{" if query else b"[{")
    assert b'"retryDelay": "20s"' in refused.body


def test_the_tools_that_are_offered_have_names() -> None:
    offered: list[JsonValue] = [{"functionDeclarations": [{"name": "click"}, {"name": "look"}]}]

    assert list(FAMILY.tool_names(offered)) == ["click", "look"]
    assert list(FAMILY.tool_names([{"google_search": {}}])) == []
