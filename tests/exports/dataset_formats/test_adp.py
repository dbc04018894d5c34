"""The fields are those of the protocol's schema/SCHEMA.md, version 1.2.0."""

from typing import Any, Final

from tests.exports.builders import WORDS, failure, row
from tests.exports.dataset_formats.test_atif import PAST
from warex.exports.dataset_formats.adp import trajectory

FIELDS: Final[dict[str, set[str]]] = {
    "api_action": {"class_", "function", "kwargs", "description"},
    "message_action": {"class_", "content", "description"},
    "text_observation": {"class_", "content", "name", "source"},
    "image_observation": {"class_", "content", "annotations", "source"},
}


def is_of_the_schema(results: dict[str, Any]) -> bool:
    known = {"schema_version", "id", "content", "available_apis", "details"}
    return set(results) <= known and all(
        set(item) <= FIELDS[item["class_"]]
        and item.get("source", "user") in ("user", "agent", "environment")
        for item in results["content"]
    )


def test_an_action_in_text_is_one_by_name_and_arguments() -> None:
    results = trajectory(row(), WORDS)

    assert is_of_the_schema(results)
    assert results["content"][-1] == {
        "class_": "api_action",
        "function": "click",
        "kwargs": {"arg1": "1"},
        "description": "I save.\nclick('1')",
    }
    assert results["content"][0]["source"] == "user"
    assert results["details"]["site"] == "shop.example"


def test_a_tool_call_keeps_the_names_of_its_arguments() -> None:
    results = trajectory(failure(messages=PAST), WORDS)

    assert is_of_the_schema(results)
    classes = [item["class_"] for item in results["content"]]
    assert classes == ["text_observation"] * 2 + ["api_action", "text_observation", "api_action"]
    assert results["content"][2]["kwargs"] == {"id": "7"}
    assert results["content"][3] == {
        "class_": "text_observation",
        "content": "502 Bad Gateway",
        "source": "environment",
    }


def test_words_without_an_action_are_a_message_and_a_screenshot_is_a_file() -> None:
    parts = [{"type": "text", "text": "Page"}, {"type": "image"}]
    messages = [{"role": "user", "content": parts}, {"role": "assistant", "content": "It is 7."}]

    results = trajectory(row(messages=messages, images=("images/a.png",)), WORDS)

    assert is_of_the_schema(results)
    assert results["content"][1]["content"] == "images/a.png"
    assert results["content"][2] == {"class_": "message_action", "content": "It is 7."}
