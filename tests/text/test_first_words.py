import pytest

from warex.text.first_words import first_words


@pytest.mark.parametrize(
    ("text", "most", "first"),
    [
        ("one two", 7, "one two"),
        ("one two", 6, "one "),
        ("one\ntwo", 5, "one\n"),
        ("onetwo", 5, ""),
        ("one", 0, ""),
        ("a " + "x" * 9000, 5000, "a " + "x" * 902),
    ],
)
def test_a_text_is_cut_where_no_word_is(text: str, most: int, first: str) -> None:
    assert first_words(text, most) == first
