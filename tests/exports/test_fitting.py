from typing import Any

from warex.exports.fitting import fit_messages

ANSWER: dict[str, Any] = {"role": "assistant", "content": "click('7')"}
PAGE = "\n".join(f"[{at}] link 'Item number {at}'" for at in range(1, 41))
PROMPT = f"""# Goal

{"Buy a lamp. " * 10}

# Current page

URL: https://shop.example/
{PAGE}

# History of past actions

## Step 1
{"click the link 'Item'. " * 10}
click('3')

# Next action

Act."""


def prompt(text: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "s" * 10}, {"role": "user", "content": text}, ANSWER]


def test_what_is_short_enough_stays_as_it_is() -> None:
    messages = prompt("[7] link")
    fitted = fit_messages(messages, 100)

    assert fitted is not None
    assert (fitted.messages, fitted.cut) == (messages, 0)


def test_only_whole_elements_at_the_end_of_the_page_are_cut() -> None:
    fitted = fit_messages(prompt(PROMPT), 1200)

    assert fitted is not None
    text = fitted.messages[1]["content"]
    assert 0 < fitted.cut < 40
    assert 1100 < len(text) + 10 <= 1200
    retained = PAGE.splitlines()[: 40 - fitted.cut]
    assert text == PROMPT.replace(PAGE, "\n".join([*retained, "[…]"]))
    assert fitted.messages[-1] == ANSWER


def test_an_element_that_the_answer_acts_on_is_never_cut_away() -> None:
    assert fit_messages(prompt(PROMPT), 1200, ("40",)) is None
    assert fit_messages(prompt(PROMPT), 1200, ("4",)) is not None


def test_a_history_and_a_goal_that_do_not_fit_alone_are_not_cut() -> None:
    assert fit_messages(prompt(PROMPT), 400) is None
    assert fit_messages(prompt("x" * 50), 8) is None


def test_a_page_without_elements_is_cut_by_lines() -> None:
    text = "Heading\n" + "some words\n" * 50
    fitted = fit_messages(prompt(text), 210)

    assert fitted is not None
    assert fitted.messages[1]["content"].endswith("some words\n[…]\n")
    assert fitted.cut > 30


def test_fitting_cuts_text_parts_and_keeps_images() -> None:
    image = {"type": "image", "blob": "sha256/0"}
    parts: list[dict[str, Any]] = [{"type": "text", "text": PAGE}, image]
    inputs = [{"role": "user", "content": parts}, ANSWER]

    fitted = fit_messages(inputs, 500)

    assert fitted is not None
    assert fitted.messages[0]["content"][1] == image
    assert len(fitted.messages[0]["content"][0]["text"]) <= 500
    assert parts[0]["text"] == PAGE
