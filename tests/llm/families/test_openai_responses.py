import json

import pytest

from tests.llm.detached_images import detached
from warex.llm import LlmAnswer, read_answer, recognise
from warex.llm.families.openai_responses import OpenAiResponses

FAMILY = OpenAiResponses()
TEXT = 'Mind "errors".\n'
PIXEL = "iVBORw0KGgo="
ASKED = {"model": "gpt-4.1", "input": "hi"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses/resp_1", ASKED),
        ("/v1/responses/resp_1/cancel", ASKED),
        ("/v1/responses/input_tokens", ASKED),
        ("/v1/responses/compact", ASKED),
        ("/v1/responses", {"model": "gpt-4.1"}),
        ("/v1/responses", {"model": "gpt-4.1", "input": []}),
        ("/v1/responses", {"model": "gpt-4.1", "input": ["hi"]}),
        ("/v1/responses", {"model": "gpt-4.1", "input": 3}),
        ("/v1/responses", {"model": 3, "input": "hi"}),
        ("/v1/responses", {"input": "hi"}),
        ("/survey/responses", {"answers": ["yes"], "input": "hi"}),
    ],
)
def test_other_requests_are_not_recognised_as_calls(path: str, body: object) -> None:
    assert recognise("POST", path, "application/json", json.dumps(body).encode()) is None


@pytest.mark.parametrize(
    ("sent", "become"),
    [
        ('{ "input":1e0}', '{"instructions": TEXT,  "input":1e0}'),
        ("{}", '{"instructions": TEXT}'),
        ('{"instructions":""}', '{"instructions":TEXT}'),
        ('{"instructions":null}', '{"instructions":TEXT}'),
        ('{"instructions":[]}', '{"instructions":[{"role": "developer", "content": TEXT}]}'),
        ('{"input":[{"role":"user"}]}', '{"instructions": TEXT, "input":[{"role":"user"}]}'),
        (
            '{"input":[{"role":"system","content":[]}]}',
            '{"input":[{"role":"system","content":[{"type": "input_text", "text": TEXT}]}]}',
        ),
    ],
    ids=["none", "empty object", "empty", "null", "no items", "only a user", "an empty item"],
)
def test_a_text_becomes_the_missing_system_prompt(sent: str, become: str) -> None:
    changed = FAMILY.append_to_system_prompt(sent.encode(), TEXT)

    assert changed.decode() == become.replace("TEXT", json.dumps(TEXT))


@pytest.mark.parametrize(
    ("sent", "become"),
    [
        ('{"instructions":"a"}', '{"instructions":"a\\n\\nb"}'),
        (
            '{"instructions":[{"role":"developer","content":"a"}]}',
            '{"instructions":[{"role":"developer","content":"a"},'
            ' {"role": "developer", "content": "b"}]}',
        ),
        (
            '{"instructions":"x","input":[{"role":"developer","content":"a"},{"role":"user"}]}',
            '{"instructions":"x","input":[{"role":"developer","content":"a\\n\\nb"},{"role":"user"}]}',
        ),
        (
            '{"input":[{"role":"system","content":[{"type":"input_text","text":"a"}]}]}',
            '{"input":[{"role":"system","content":[{"type":"input_text","text":"a"},'
            ' {"type": "input_text", "text": "\\n\\nb"}]}]}',
        ),
    ],
    ids=["instructions", "their items", "the last item", "its parts"],
)
def test_a_text_joins_a_system_prompt_as_its_end(sent: str, become: str) -> None:
    assert FAMILY.append_to_system_prompt(sent.encode(), "b").decode() == become


def test_what_the_api_keeps_does_not_hold_the_text_too() -> None:
    sent = b'{"previous_response_id":"r","input":[{"role":"developer","content":"a"}]}'

    changed = json.loads(FAMILY.append_to_system_prompt(sent, "b"))

    assert changed["instructions"] == "b"
    assert changed["input"] == [{"role": "developer", "content": "a"}]


@pytest.mark.parametrize(
    "body", [b'{"instructions": 3}', b'{"instructions": ["a"]}', b"[]", b"{", b"\xff"]
)
def test_a_system_prompt_that_is_not_understood_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"neither|object|Expecting|utf-8"):
        FAMILY.append_to_system_prompt(body, TEXT)


def test_images_of_messages_tools_and_the_screen_are_kept_apart() -> None:
    url = f"data:image/png;base64,{PIXEL}"
    image = {"type": "input_image", "image_url": url, "detail": "auto"}
    screen = {"type": "computer_screenshot", "image_url": url}
    sent = [
        {"role": "user", "content": [image, {"type": "input_image", "file_id": "file-1"}]},
        {"role": "user", "content": [{**image, "image_url": "https://shop.example/a.png"}]},
        {"type": "function_call_output", "call_id": "c", "output": [image]},
        {"type": "computer_call_output", "output": screen},
        {"type": "image_generation_call", "id": "ig_1", "result": PIXEL},
    ]

    messages, blobs = detached(json.loads(json.dumps(sent)), FAMILY.images)

    (digest,) = blobs
    assert blobs[digest].startswith(b"\x89PNG")
    assert PIXEL not in json.dumps(messages)
    assert json.dumps(messages).count(f"blob:sha256/{digest}") == 4
    assert "https://shop.example/a.png" in json.dumps(messages)
    assert "file-1" in json.dumps(messages)


def _read(*output: object) -> LlmAnswer:
    request = recognise("POST", "/v1/responses", "", json.dumps(ASKED).encode())
    assert request is not None
    body = {"object": "response", "status": "completed", "output": output}
    return read_answer(request, 200, "", json.dumps(body).encode())


def test_messages_that_say_the_same_are_all_read() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "Done."}]}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}

    answer = _read(thought, message, thought, message)

    assert answer.text == "Done.Done."
    assert answer.reasoning == "Hm.\n\nHm."


def test_a_computer_call_without_an_action_is_one_without_arguments() -> None:
    (call,) = _read({"type": "computer_call", "call_id": "c"}).tool_calls

    assert (call.name, call.arguments) == ("computer", "{}")
