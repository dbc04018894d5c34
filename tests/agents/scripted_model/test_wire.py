import json
from typing import Any

import pytest

from warex.agents.scripted_model.playbook import Said
from warex.agents.scripted_model.wire import Refused, chunks, completion, question, usage

MESSAGES = [{"role": "user", "content": "x" * 9}]


def body(**other: Any) -> bytes:
    return json.dumps({"model": "scripted:patient", "messages": MESSAGES, **other}).encode()


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
    with pytest.raises(Refused, match=words) as refused:
        question(sent)

    assert refused.value.status == status
    assert refused.value.body["error"]["message"] == str(refused.value)


def test_tokens_are_a_quarter_of_each_messages_characters_rounded_up() -> None:
    assert usage(MESSAGES, "12345") == {
        "prompt_tokens": 3,
        "completion_tokens": 2,
        "total_tokens": 5,
    }


def test_a_picture_counts_whatever_its_size() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}

    assert usage([{"role": "user", "content": [picture]}], "")["prompt_tokens"] == 85


def test_a_streamed_answer_says_what_the_whole_one_says() -> None:
    asked = question(body(stream=True, stream_options={"include_usage": True}))
    reply = "Step 1: look.\nclick('12')  "

    whole, pieces = completion(asked, Said(reply)), list(chunks(asked, Said(reply)))

    said = "".join(
        choice["delta"].get("content", "") for piece in pieces for choice in piece["choices"]
    )
    assert said == reply == whole["choices"][0]["message"]["content"]
    assert pieces[-1]["usage"] == whole["usage"]
    assert pieces[-1]["choices"] == []


def test_the_same_request_gets_the_same_bytes() -> None:
    said = Said("noop()")
    assert completion(question(body()), said) == completion(question(body()), said)
