from typing import Any

from warex.exports.fitting import truncate_messages

ANSWER: dict[str, Any] = {"role": "assistant", "content": "click('7')"}


def prompt(page: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "s" * 10}, {"role": "user", "content": page}, ANSWER]


def test_what_is_short_enough_stays_as_it_is() -> None:
    messages = prompt("[7] link")

    assert truncate_messages(messages, 100) == messages


def test_the_middle_of_the_longest_text_is_cut_and_the_answer_stays_whole() -> None:
    page = "head" + "x" * 500 + "tail"

    cut = truncate_messages(prompt(page), 100)

    assert cut is not None
    shown = cut[1]["content"]
    assert shown.startswith("headxx")
    assert shown.endswith("xxtail")
    assert "[…]" in shown
    assert len(shown) + 10 <= 100
    assert cut[-1] == ANSWER


def test_an_element_that_the_answer_acts_on_is_never_cut_away() -> None:
    page = "a" * 300 + "[7] link" + "b" * 300

    assert truncate_messages(prompt(page), 100, ("7",)) is None
    assert truncate_messages(prompt("[7] link" + page), 100, ("7",)) is not None


def test_messages_that_do_not_fit_without_their_longest_text_are_not_fitted() -> None:
    assert truncate_messages(prompt("x" * 50), 8) is None


def test_of_parts_the_text_is_cut_and_the_image_kept() -> None:
    image = {"type": "image", "blob": "sha256/0"}
    parts: list[dict[str, Any]] = [{"type": "text", "text": "x" * 500}, image]
    given = [{"role": "user", "content": parts}, ANSWER]

    cut = truncate_messages(given, 100)

    assert cut is not None
    assert cut[0]["content"][1] == image
    assert len(cut[0]["content"][0]["text"]) <= 100
    assert len(parts[0]["text"]) == 500
