import pytest

from warex.training.inference.constraint import AnswerConstraint, TokenTrie, Words
from warex.training.ranking.legal import LegalAnswer

END = 0
LETTERS = Words(lambda text: [ord(it) for it in text], chr)
LEGAL = ("click('1')", "click('12')", "reload()")


def after(text: str, *, thought: bool = False) -> set[str] | None:
    """Return what may follow a text, in letters; ``$`` for the end."""
    constraint = AnswerConstraint(LegalAnswer(LEGAL, thought), LETTERS, {END})
    result = constraint.allowed(LETTERS.encode(text))
    return None if result is None else {"$" if it == END else chr(it) for it in result}


def test_each_letter_leads_to_a_legal_action_and_its_end() -> None:
    assert after("") == {"c", "r"}
    assert after("click('1") == {"'", "2"}
    assert after("click('12") == {"'"}
    assert after("reload()") == {"$"}


def test_what_is_not_a_beginning_of_a_legal_action_has_no_continuation() -> None:
    assert after("click('3") == set()
    assert TokenTrie([[1, 2]], {END}).allowed([1, 2, END]) == []


def test_an_action_that_another_begins_with_may_end_or_go_on() -> None:
    assert TokenTrie([[1], [1, 2]], {END}).allowed([1]) == [END, 2]


def test_a_thought_is_a_line_of_any_words_before_the_action() -> None:
    assert after("", thought=True) is None
    assert after("I save.", thought=True) is None
    assert after("I save.\n", thought=True) == {"c", "r"}
    assert after("I save.\nreload()", thought=True) == {"$"}


def test_a_long_thought_is_ended() -> None:
    assert after("a" * 63, thought=True) is None
    assert after("a" * 64, thought=True) == {"\n"}


@pytest.mark.parametrize("space", ["", "_"])
def test_an_action_is_encoded_as_it_follows_a_line(space: str) -> None:
    # Some tokenizers begin every text with a space.
    words = Words(lambda text: [ord(it) for it in space + text], chr)

    assert words.encode_on_new_line("go") == [ord("g"), ord("o")]
