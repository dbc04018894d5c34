"""What can be done on a page is what wanted answers did elsewhere, with the page's own elements."""

from tests.exports.builders import WORDS, row
from warex.exports.prompt_page import PromptPage, read_prompt
from warex.exports.rows import Row
from warex.training.ranking.candidates import (
    MOST,
    ActionTemplate,
    candidates,
    forms,
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


def test_a_form_with_a_pages_text_yields_to_one_with_the_goals() -> None:
    page = "[7] textbox 'Name'"
    general, literal = template("fill('7', 'Ada')", page), template("fill('7', 'Bob')", page)
    again = template("reload()", page)

    assert [it.text for it in forms([general, literal, again])] == [general.text, again.text]
    assert forms([literal]) == (literal,)


def test_an_answer_is_the_text_of_the_page_that_adds_it_to_the_goal() -> None:
    page = "heading 'Site visit'\ncell 'The gate code is 4417.'\n[3] link 'Cranes'"

    answer = wanted_action(
        *wanting("send_msg_to_user('It is 4417.')", page, "What is the gate code?"), WORDS
    )
    assert answer is not None
    assert answer[0].text == "send_msg_to_user('⟦text⟧')"
    assert answer[1] == "send_msg_to_user('The gate code is 4417.')"
    done = template('send_msg_to_user("The code is 4417.")', page, "Change the code.")
    assert done.text == "send_msg_to_user('Done.')"


def test_a_list_is_set_to_its_own_options() -> None:
    page = "[1] combobox 'Day'\noption 'Monday'\n[2] combobox 'Size'\noption 'Small'"
    made = template("fill('1', 'Monday')", page)
    _, shown = wanting("", page)

    assert [it.text for it in candidates(shown, [made])] == [
        "fill('1', 'Monday')",
        "fill('2', 'Small')",
    ]
