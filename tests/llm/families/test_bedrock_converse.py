import json

import pytest

from tests.llm.detached_images import detached
from warex.llm import recognise, tool_names
from warex.llm.body.framing import EVENT_STREAM, split_frames
from warex.llm.families.bedrock_converse import BedrockConverse
from warex.llm.families.writing import aws_message

FAMILY = BedrockConverse()
TURNS = [{"role": "user", "content": [{"text": "hi"}]}]
PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/converse", {"messages": TURNS}),
        ("/model/m/converse", {"messages": []}),
        ("/model/m/converse", {"messages": ["hi"]}),
        ("/model/m/count-tokens", {"input": {"converse": {"messages": TURNS}}}),
        ("/search?next=/model/m/converse", {"messages": TURNS}),
    ],
)
def test_other_requests_are_not_recognised_as_calls(path: str, body: object) -> None:
    assert recognise("POST", path, "application/json", json.dumps(body).encode()) is None


def test_a_prompt_that_aws_keeps_is_a_call() -> None:
    path = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aprompt%2FP/converse"
    asked = recognise("POST", path, "", b'{"promptVariables": {"a": {"text": "b"}}}')

    assert asked is not None
    assert asked.continues == asked.model == "arn:aws:bedrock:us-east-1:1:prompt/P"


def test_a_prompt_that_aws_keeps_takes_no_system_prompt() -> None:
    body = b'{"promptVariables": {"item": {"text": "milk"}}}'

    with pytest.raises(ValueError, match="AWS keeps its prompt"):
        FAMILY.append_to_system_prompt(body, "b")


def test_tool_names_are_read() -> None:
    tools = [{"toolSpec": {"name": "click"}}, {"cachePoint": {"type": "default"}}]
    body = {"messages": TURNS, "toolConfig": {"tools": tools}}
    asked = recognise("POST", "/model/m/converse", "", json.dumps(body).encode())

    assert asked is not None
    assert tool_names(asked) == ("click",)


def test_images_of_messages_and_of_tools_are_kept_apart() -> None:
    image = {"image": {"format": "jpeg", "source": {"bytes": PIXEL}}}
    far = {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/a.png"}}}}
    result = {"toolResult": {"toolUseId": "t", "content": [image]}}
    sent = [{"role": "user", "content": [image, far, result]}]

    messages, blobs = detached(json.loads(json.dumps(sent)), FAMILY.images)

    (digest,) = blobs
    assert PIXEL not in json.dumps(messages)
    assert json.dumps(messages).count(f"blob:sha256/{digest}") == 2
    assert json.dumps(messages).count("image/jpeg") == 2
    assert "s3://b/a.png" in json.dumps(messages)


def test_an_error_of_aws_s_own_says_its_code() -> None:
    sent = aws_message("validationException", {"message": "bad"})
    (frame,) = split_frames(sent, EVENT_STREAM).items
    assert frame == {
        "error": {"type": "validationException", "message": "validationException: bad"}
    }
