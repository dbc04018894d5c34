from typing import Any

import pytest

from tests.exports.builders import WORDS
from warex.exports.answers.thoughts import replace_texts, without_thought


@pytest.mark.parametrize(
    ("answer", "alone"),
    [
        ("Step 2 of 5: click the link 'Cart'.\nclick('7')", "click('7')"),
        ("I act.\n```\nclick('7')\n```\nand wait", "```\nclick('7')\n```"),
        ("<think>Then 2 of 5.</think>\n<action>click('7')</action>", "<action>click('7')</action>"),
        ("REASON:\nIt failed.\nACTION:\nreload()", "ACTION:\nreload()"),
        ("I write.\nsend_msg_to_user('one\ntwo')", "send_msg_to_user('one\ntwo')"),
        ("click('7')", "click('7')"),
    ],
)
def test_an_answer_without_its_thought_asks_for_the_same_action(answer: str, alone: str) -> None:
    assert without_thought({"role": "assistant", "content": answer}, WORDS) == {
        "role": "assistant",
        "content": alone,
    }


def test_dropping_thoughts_keeps_tool_calls() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "click", "arguments": "{}"}}
    answer = {"role": "assistant", "content": "Step 1 of 2", "tool_calls": [call]}

    assert without_thought(answer, WORDS) == {**answer, "content": ""}


def test_words_without_an_action_stay() -> None:
    assert without_thought({"role": "assistant", "content": "I think."}, WORDS) is None


def test_earlier_answers_are_replaced_wherever_a_prompt_repeats_them() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "## Step 1\nI go.\nreload()\nnow"}]},
        {"role": "assistant", "content": "I go.\nreload()"},
    ]

    replaced = replace_texts(messages, {"I go.\nreload()": "reload()"})

    assert replaced == [
        {"role": "system", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "## Step 1\nreload()\nnow"}]},
        {"role": "assistant", "content": "reload()"},
    ]
