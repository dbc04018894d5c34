import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.rewriting.site_look.colours import colour_in, contrast, text_on


@pytest.mark.parametrize(
    ("value", "colour"),
    [
        ("#fff", "#ffffff"),
        ("#1A2b3c", "#1a2b3c"),
        ("#1a2b3cff", "#1a2b3c"),
        ("rgb(255, 0, 128)", "#ff0080"),
        ("rgb(100% 0% 50% / 1)", "#ff0080"),
        ("hsl(120, 100%, 25%)", "#008000"),
        ("hsl(120deg 100% 25% / 0.9)", "#008000"),
        ("oklch(0.628 0.2577 29.23)", "#ff0000"),
        ("rebeccapurple", "#663399"),
        ("url(a.png) no-repeat #123456", "#123456"),
        ("linear-gradient(90deg, #111 0%, #222 100%)", "#111111"),
        ("white !important", "#ffffff"),
        ("transparent", ""),
        ("inherit", ""),
        ("rgba(0, 0, 0, 0.1)", ""),
        ("#00000010", ""),
        ("currentColor", ""),
        ("rgb(a, b, c)", ""),
        ("url(white.png)", ""),
        ("", ""),
    ],
)
def test_colours_are_read_in_every_notation_if_opaque(value: str, colour: str) -> None:
    assert colour_in(value) == colour


@given(st.text(max_size=500))
def test_a_colour_is_six_digits_or_nothing(value: str) -> None:
    result = colour_in(value)

    assert result == "" or (len(result) == 7 and int(result[1:], 16) >= 0)


def test_text_is_put_in_the_colour_that_is_read_better() -> None:
    assert text_on("#101020") == "#ffffff"
    assert text_on("#ffee88") == "#111111"
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
