"""Which actions a prompt's history holds."""

from typing import Any

import pytest

from tests.exports.builders import WORDS
from warex.exports.history import has_reload, past_actions


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str, *calls: str) -> dict[str, Any]:
    functions = [{"id": it, "function": {"name": it, "arguments": "{}"}} for it in calls]
    return {"role": "assistant", "content": text, "tool_calls": functions}


@pytest.mark.parametrize(
    "history",
    [
        "## Step 1\nThe page failed.\nreload()\n\n## Step 2\nclick('1')",
        "## step 0\n<think>I wait.</think>\n<action>reload()</action>\n## step 1\n```click('1')```",
        "1. reload()\n2. click('1')",
        "click('1')\nreload()",
    ],
)
def test_a_reload_in_a_written_history_is_one(history: str) -> None:
    assert has_reload([user(f"# Goal\n\nBuy tea.\n\n# History\n\n{history}")], WORDS)


@pytest.mark.parametrize("earlier", [assistant("", "reload"), assistant("I retry.\nreload()")])
def test_a_reload_of_an_earlier_answer_is_one(earlier: dict[str, Any]) -> None:
    prompt = [user("Buy tea."), earlier, user("[1] link 'Tea'"), assistant("", "click")]

    assert has_reload([*prompt, {"role": "tool", "content": "done"}], WORDS)


@pytest.mark.parametrize(
    "prompt",
    [
        [user("# Goal\n\nreload()\n\n# History\n\n## Step 1\nclick('1')")],
        [user("# Page\n\n[1] button 'Reload'\nreload()\n\n# History\n\nNone yet.")],
        [user("# History\n\n## Step 1\nThen I do\nreload()\nif it fails.\nclick('1')")],
        [user("# History\n\n## Step 1\n<think>\nreload()\n</think>\nfill('2', 'reload()')")],
        [user("reload()"), assistant("I need no reload.", "click"), user("[1] link 'reload()'")],
        [],
    ],
)
def test_words_of_a_reload_are_none(prompt: list[dict[str, Any]]) -> None:
    assert not has_reload(prompt, WORDS)


def test_past_actions_are_in_order() -> None:
    prompt = [assistant("", "click", "reload"), user("# History\n\n## Step 1\ngoto('/a')")]

    assert [it.name for it in past_actions(prompt, WORDS)] == ["goto", "click", "reload"]
