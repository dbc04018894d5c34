import pytest

from warex.training.ranking.goal_texts import MOST, asks, goal_texts, goal_words, words


@pytest.mark.parametrize(
    ("goal", "texts"),
    [
        (
            "Book 2 seats for 'Ada' at 9:30 in \"Row B\".",
            {"2": "number", "Ada": "quotation", "9:30": "time", "Row B": "quotation"},
        ),
        ("Write to a@x.test: we are late.", {"a@x.test": "address", "we are late.": "sentence"}),
        ("Plan it for Monday 29 June 2026.", {"2026-06-29": "day", "06/29/2026": "day"}),
        ("Plan it for June 31, 2026.", {}),
        ("Send two to Ada Byron, Hauptweg 7.", dict.fromkeys(("2",), "number")
         | dict.fromkeys(("Ada Byron", "Hauptweg 7"), "name")),
    ],
)  # fmt: skip
def test_a_goal_offers_what_fields_may_want(goal: str, texts: dict[str, str]) -> None:
    assert dict(goal_texts(goal)) == texts


def test_a_goal_of_any_length_offers_a_bounded_number_of_texts() -> None:
    words_of_goal = ("".join(chr(97 + int(digit)) for digit in f"{at:05}") for at in range(2000))
    goal = " ".join(f"'t{at}' {word}" for at, word in enumerate(words_of_goal))

    assert len(goal_texts(goal)) == len(goal_words(goal)) == MOST


def test_a_question_is_distinguished_from_an_order() -> None:
    assert asks("Cancel it. What is left?")
    assert asks("Find the price, and answer with it.")
    assert not asks("Write 'Can we meet?' to Ada.")


def test_words_are_compared_without_case_plural_and_ending() -> None:
    assert words("Carts and CART 7") == {"cart", "7"}
    assert words("invitations") == words("invitat")
