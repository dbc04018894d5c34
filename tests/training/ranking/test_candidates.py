"""What can be done on a page is what wanted answers did elsewhere, with the page's own elements."""

from tests.exports.builders import WORDS, row
from warex.exports.prompt_page import PromptPage, read_prompt
from warex.exports.rows import Row
from warex.training.ranking.candidates import (
    MOST,
    ActionTemplate,
    candidates,
    goal_texts,
    merged,
    wanted_action,
)


def wanting(answer: str, page: str, goal: str = "Fill in 'Ada'.") -> tuple[Row, PromptPage]:
    messages = [
        {"role": "user", "content": f"# Goal\n\n{goal}\n\n# Page\n\n{page}"},
        {"role": "assistant", "content": answer},
    ]
    wanted = row(messages=messages)
    return wanted, read_prompt(wanted.prompt)


def template(answer: str, page: str, goal: str = "Fill in 'Ada'.") -> ActionTemplate:
    action = wanted_action(*wanting(answer, page, goal), WORDS)
    assert action is not None
    return action[0]


def test_an_answer_becomes_a_template_of_its_element_and_the_goal_s_text() -> None:
    made = template("I fill it in.\nfill('7', 'Ada')", "[7] textbox 'Name'")

    assert made.text == "fill('⟦element⟧', '⟦goal⟧')"
    assert (made.slots, made.roles) == (("element", "goal"), ("textbox",))


def test_an_answer_in_words_has_no_template() -> None:
    assert wanted_action(*wanting("I do not know.", "[7] textbox 'Name'"), WORDS) is None


def test_a_page_offers_an_action_for_each_element_of_a_known_role() -> None:
    made = template("click('1')", "[1] button 'Save'")
    _, page = wanting("", "[3] button 'Buy'\n[4] link 'Home'\n[5] button 'Pay'")

    assert [it.text for it in candidates(page, [made])] == ["click('3')", "click('5')"]


def test_a_text_of_the_goal_is_escaped_for_the_quotation_marks_around_it() -> None:
    made = template("fill('7', 'Ada')", "[7] textbox 'Name'")
    _, page = wanting("", "[2] textbox 'Name'", 'Fill in "O\'Hara".')

    assert [it.text for it in candidates(page, [made])] == [r"fill('2', 'O\'Hara')"]


def test_a_page_of_any_size_offers_a_bounded_number_of_actions() -> None:
    made = template("click('1')", "[1] button 'Save'")
    _, page = wanting("", "\n".join(f"[{it}] button 'B{it}'" for it in range(2 * MOST)))

    assert len(candidates(page, [made])) == MOST


def test_equal_templates_are_one_with_the_roles_of_all() -> None:
    button, link = template("click('1')", "[1] button 'A'"), template("click('1')", "[1] link 'A'")

    assert [it.roles for it in merged([button, link, button])] == [("button", "link")]


def test_a_goal_offers_its_quotations_and_numbers() -> None:
    assert goal_texts("Book 2 seats for 'Ada' at 9:30 in \"Row B\".") == [
        "Ada",
        "Row B",
        "2",
        "9:30",
    ]
