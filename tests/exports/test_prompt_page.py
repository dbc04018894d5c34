"""Prompts of several harnesses are read alike."""

import pytest

from warex.exports.prompt_page import read_prompt


def prompt(page: str) -> list[dict[str, str]]:
    text = (
        f"# Goal\n\nBuy 'Tea'.\n\n# Page\n\nhttps://shop.example/a\n{page}"
        "\n\n# History\n\nclick('3')"
    )
    return [{"role": "system", "content": "[9] button 'No'"}, {"role": "user", "content": text}]


@pytest.mark.parametrize(
    "line", ["[7] link 'Cart'", "link 'Cart' [7]", "[7]<link>Cart", '[7]: <link> "Cart"']
)
def test_an_element_is_read_in_the_form_of_each_harness(line: str) -> None:
    (element,) = read_prompt(prompt(line)).usable

    assert (element.id, element.role, element.name) == ("7", "link", "Cart")


def test_goal_url_page_and_history_are_distinguished() -> None:
    page = read_prompt(prompt("heading 'Tea'\n[7] link 'Cart'"))

    assert (page.goal, page.url, page.history) == (
        "Buy 'Tea'.",
        "https://shop.example/a",
        "click('3')",
    )
    assert [(it.id, it.role, it.name) for it in page.elements] == [
        ("", "heading", "Tea"),
        ("7", "link", "Cart"),
    ]
    assert "click('3')" not in page.page


def test_the_first_message_is_the_goal_and_answers_are_the_history() -> None:
    page = read_prompt(
        [
            {"role": "user", "content": "Buy tea."},
            {"role": "assistant", "content": "click('1')"},
            {"role": "user", "content": "[2] button 'Pay'"},
        ]
    )

    assert (page.goal, page.history) == ("Buy tea.", "click('1')")
    assert [it.name for it in page.usable] == ["Pay"]


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": ""}]])
def test_a_prompt_without_content_is_an_empty_page(messages: list[dict[str, str]]) -> None:
    assert read_prompt(messages).elements == ()
