import pytest

from warex.llm.families.growing_text import GrowingText


def test_a_text_is_its_pieces_in_order() -> None:
    text = GrowingText("a")
    text += "bc"
    text += ""
    text += "d"

    assert str(text) == "abcd"
    assert text
    assert not GrowingText()


@pytest.mark.parametrize(
    ("end", "ends"), [("", True), ("d", True), ("bcd", True), ("abcd", True), ("abc", False)]
)
def test_an_end_may_span_pieces(end: str, ends: bool) -> None:
    text = GrowingText("a")
    text += "bc"
    text += "d"

    assert text.ends_with(end) is ends
    assert not text.ends_with("x" + str(text))
