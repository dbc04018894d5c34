from typing import Any

import pytest

from warex.agents.reference.prompt import Observation, Step, messages
from warex.agents.scripted_model.reading import Element, Turn, elements, read, text


def test_what_the_agent_writes_is_read_back() -> None:
    past = [
        Step("Step 1: click the link 'a'.\nclick('1')"),
        Step("Step 2: click the link 'b'.\nclick('2')", "click: Timeout 5000ms exceeded."),
        Step("Step 2: this page does not show what I need, I load it again.\nreload()"),
    ]
    seen = Observation("u", "t", "[1] link \"It's\"\n[2] button 'Go' focused, disabled")
    situation = read(messages("The goal", seen, past))
    assert situation.goal == "The goal"
    assert situation.elements == (
        Element("1", "link", "It's"),
        Element("2", "button", "Go", disabled=True),
    )
    assert situation.turns == (
        Turn(0, reloaded=False, failed=False),
        Turn(1, reloaded=False, failed=True),
        Turn(1, reloaded=True, failed=False),
    )
    assert not situation.asked_to_refresh


def test_an_id_may_follow_the_name() -> None:
    tree = "link 'a' [1]\ntextbox 'To [all]' [2] value='x', disabled\nStaticText 'b'"
    assert elements(tree) == (
        Element("1", "link", "a", id_last=True),
        Element("2", "textbox", "To [all]", disabled=True, id_last=True),
        Element("", "StaticText", "b"),
    )


def test_a_compact_page_is_named_by_the_start_of_its_heading_or_title() -> None:
    def headed(tree: str, *, compact: bool = True) -> str:
        return read(messages("The goal", Observation("u", "T", tree), [], compact=compact)).headed

    assert headed("link 'a' [1]\nheading 'First'\nheading 'Second'") == "First"
    assert headed("heading ''\nlink 'a' [1]") == "T"
    assert headed(f"heading '{'x' * 200}'") == "x" * 60
    assert headed("[1] heading 'First'", compact=False) == ""


def test_an_element_without_a_name_is_known_by_the_text_in_it() -> None:
    tree = "[1] status ''\n  [2] paragraph ''\n    StaticText 'Event'\n  StaticText 'saved'"
    assert elements(tree + "\n[3] link 'x'")[0] == Element("1", "status", "Event saved")


def test_a_message_in_parts_is_read_like_one_in_a_piece() -> None:
    plain = messages("The goal", Observation("u", "t", "[1] link 'a'"), [])
    parts = messages("The goal", Observation("u", "t", "[1] link 'a'", screenshot="AA=="), [])
    assert read(plain) == read(parts)


def test_messages_of_another_shape_are_read_as_nothing() -> None:
    for message in ({}, {"role": "user", "content": None}, {"role": "user", "content": [1, {}]}):
        assert read([message]).goal == ""


def test_a_tree_that_is_not_quoted_as_expected_does_not_break_the_reading() -> None:
    assert elements(r"[1] link '\x'") == (Element("1", "link", r"\x"),)


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ({"role": "user", "content": "one"}, "one"),
        ({"content": [{"type": "text", "text": "one"}, {"type": "image_url"}]}, "one"),
        ({"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "x"}}]}, ""),
        ({"content": [{"type": "tool_result", "content": [{"text": "one"}]}]}, "one"),
        ({"parts": [{"text": "one"}, {"inlineData": {"data": "AAAA"}}]}, "one"),
        ({"parts": [{"functionResponse": {"response": {"page": "one"}}}]}, '{"page": "one"}'),
        ({"type": "function_call_output", "output": "one"}, "one"),
        ({"type": "function_call", "name": "x", "arguments": "{}"}, ""),
        ({"content": [{"toolResult": {"content": [{"json": {"page": 1}}]}}]}, '{"page": 1}'),
        ({"role": "tool", "content": [{"document": {"data": "one"}}]}, "one"),
    ],
)
def test_the_text_of_a_message_is_found_in_each_apis_form(
    message: dict[str, Any], reply: str
) -> None:
    assert text(message) == reply
