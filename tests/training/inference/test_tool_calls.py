import json

import pytest

from warex.training.inference.tool_calls import message_of


def test_a_call_in_a_text_becomes_a_tool_call_after_the_content() -> None:
    text = 'I click.\n<tool_call>\n{"name": "click", "arguments": {"id": "9"}}\n</tool_call>'

    message = message_of(text)

    assert message["content"] == "I click."
    (call,) = message["tool_calls"]
    assert call["function"]["name"] == "click"
    assert json.loads(call["function"]["arguments"]) == {"id": "9"}


def test_several_calls_have_ids_of_their_own() -> None:
    one = '<tool_call>{"name": "a", "arguments": "{}"}</tool_call>'

    calls = message_of(one + one)["tool_calls"]

    assert [call["id"] for call in calls] == ["call_0", "call_1"]
    assert calls[0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize(
    "text", ["reload()", "<tool_call>{", "<tool_call>[]</tool_call>", '<tool_call>{"x": 1}']
)
def test_what_is_not_a_whole_call_stays_text(text: str) -> None:
    assert message_of(text) == {"role": "assistant", "content": text}
