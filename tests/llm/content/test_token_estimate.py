from pydantic import JsonValue

from warex.llm import LlmRequest, ToolCall
from warex.llm.content.token_estimate import estimate_input as estimate
from warex.llm.content.token_estimate import estimate_output, estimate_text
from warex.llm.families.openai_chat import OpenAiChat


def estimate_input(request: LlmRequest) -> int:
    return estimate(request, OpenAiChat().images)


def _request(*messages: JsonValue, tools: list[JsonValue] | None = None) -> LlmRequest:
    return LlmRequest("openai_chat", "m", list(messages), tools or [], False, "d")


def _image(detail: str) -> JsonValue:
    return {"content": [{"image_url": {"url": "data:image/png;base64,AA", "detail": detail}}]}


def test_four_bytes_are_a_token() -> None:
    assert [estimate_text(t) for t in ("", "a", "abcd", "abcde", "éé")] == [0, 1, 1, 2, 1]


def test_an_image_counts_by_its_detail_and_not_by_its_bytes() -> None:
    assert estimate_input(_request(_image("low"))) == 4 + 85
    assert estimate_input(_request(_image("auto"))) == 4 + 765


def test_tools_count_on_both_sides() -> None:
    message: JsonValue = {"content": "abcd"}
    assert estimate_input(_request(message, tools=[{"a": 1}])) > estimate_input(_request(message))
    assert estimate_output("abcd", [ToolCall("1", "abcd", "{}")]) == 3
