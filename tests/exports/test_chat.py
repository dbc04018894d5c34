from typing import Any

import pytest

from tests.exports.builders import llm_call
from warex.exports.chat import chat, message_texts, tools

PICTURE = "blob:sha256/" + "0" * 64
SEEN = {"type": "image", "blob": "sha256/" + "0" * 64}
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "click", "arguments": '{"id": "4"}'},
}

APIS: dict[str, list[Any]] = {
    "openai_chat": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Go."},
                {"type": "image_url", "image_url": {"url": PICTURE, "media_type": "image/png"}},
            ],
        },
        {"role": "assistant", "content": "I click.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ],
    "openai_responses": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Go."},
                {"type": "input_image", "image_url": PICTURE},
            ],
        },
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "I click."}]},
        {"type": "function_call", "call_id": "c1", "name": "click", "arguments": '{"id": "4"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
    ],
    "anthropic_messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Go."},
                {"type": "image", "source": {"type": "base64", "data": PICTURE}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I click."},
                {"type": "tool_use", "id": "c1", "name": "click", "input": {"id": "4"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "done"}],
                }
            ],
        },
    ],
    "gemini": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "parts": [
                {"text": "Go."},
                {"inlineData": {"mimeType": "image/png", "data": PICTURE}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "I click."},
                {"functionCall": {"id": "c1", "name": "click", "args": {"id": "4"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "click", "response": {"text": "done"}}}
            ],
        },
    ],
    "bedrock_converse": [
        {"role": "system", "content": [{"text": "Be brief."}]},
        {
            "role": "user",
            "content": [
                {"text": "Go."},
                {"image": {"format": "png", "source": {"bytes": PICTURE}}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm"}}},
                {"text": "I click."},
                {"toolUse": {"toolUseId": "c1", "name": "click", "input": {"id": "4"}}},
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "done"}]}}],
        },
    ],
    "ollama": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Go.", "images": [PICTURE]},
        {
            "role": "assistant",
            "content": "I click.",
            "tool_calls": [{"id": "c1", "function": {"name": "click", "arguments": {"id": "4"}}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ],
    "cohere": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Go."},
                {"type": "image_url", "image_url": {"url": PICTURE}},
            ],
        },
        {"role": "assistant", "content": "I click.", "tool_calls": [CALL]},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "document", "document": {"data": "done"}}],
        },
    ],
}


@pytest.mark.parametrize("family", APIS)
def test_every_api_says_the_same_in_openais_words(family: str) -> None:
    *shown, answered = chat(llm_call(family=family, messages=APIS[family], answer="Next."))

    result = {key: value for key, value in shown[3].items() if key != "name"}
    assert shown[:3] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Go."}, SEEN]},
        {"role": "assistant", "content": "I click.", "tool_calls": [CALL]},
    ]
    assert result == {"role": "tool", "content": "done", "tool_call_id": "c1"}
    assert answered == {"role": "assistant", "content": "Next."}


def test_an_answer_by_tool_calls_has_them_and_not_those_that_the_api_ran() -> None:
    calls = [
        {"id": "s1", "name": "web_search", "arguments": "{}", "by_server": True},
        {"id": "c1", "name": "click", "arguments": '{"id": "4"}'},
    ]

    *_, answered = chat(llm_call(messages=[], answer="", tool_calls=calls))

    assert answered == {"role": "assistant", "content": "", "tool_calls": [CALL]}


@pytest.mark.parametrize(
    "offered",
    [
        {"type": "function", "function": {"name": "click", "description": "d", "parameters": {}}},
        {"type": "function", "name": "click", "description": "d", "parameters": {}},
        {"name": "click", "description": "d", "input_schema": {}},
        {"functionDeclarations": [{"name": "click", "description": "d", "parameters": {}}]},
        {"toolSpec": {"name": "click", "description": "d", "inputSchema": {"json": {}}}},
    ],
)
def test_tools_of_every_api_are_openais_functions(offered: dict[str, Any]) -> None:
    function = {"name": "click", "description": "d", "parameters": {}}

    assert tools([offered]) == [{"type": "function", "function": function}]


@pytest.mark.parametrize("sent", [None, "Go.", [3], [{"role": 4}], [{"content": {"x": []}}], {}])
def test_messages_of_no_known_shape_break_nothing(sent: Any) -> None:
    *_, answered = chat(llm_call(messages=sent, answer="a"))

    assert answered["content"] == "a"
    assert tools(sent) is None


def test_the_texts_of_messages_leave_out_images() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "a"}, SEEN]}]

    assert list(message_texts([*messages, {"role": "user", "content": "b"}])) == ["a", "b"]
