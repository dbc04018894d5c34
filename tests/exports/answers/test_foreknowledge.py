import pytest

from warex.exports.answers.foreknowledge import foreknowledge

PAGE = """# Goal

Buy the 'Reading lamp'.

[1] link 'Cart'
[2] article ''
  StaticText 'Written'
  StaticText "by O'Hara"
"""


@pytest.mark.parametrize(
    "thought",
    [
        "Step 2: click the link 'Cart'.",
        "Step 2: click the link 'cart' [1].",
        "The button 'Reading lamp' must be behind the cart.",
        'the article "Written by O\'Hara" is here, I am done.',
        "This page does not show what I need.",
    ],
)
def test_a_thought_may_name_what_its_prompt_shows(thought: str) -> None:
    assert foreknowledge(thought, PAGE) is None


def test_plan_length_and_hidden_elements_are_foreknowledge() -> None:
    plan = foreknowledge("Step 2 of 5: click the link 'Cart'.", PAGE)
    unseen = foreknowledge("Step 2: the button 'Yes' is missing.", PAGE)

    assert plan == "'Step 2 of 5', the length of a plan"
    assert unseen == "button 'Yes', which its page did not show"
