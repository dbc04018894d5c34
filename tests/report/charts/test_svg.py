import re

import pytest

from tests.report.builders import shapes
from warex.report.charts.svg import (
    SHAPES,
    Chart,
    Style,
    arrange,
    bar,
    inline,
    mark,
    num,
    standalone,
    text,
    ticks,
)

EVIL = "<script>\"&'"


def _chart(body: str, name: str = "one") -> Chart:
    return Chart(name, EVIL, EVIL, 100, 50, body)


def test_names_are_text_and_never_markup() -> None:
    chart = _chart(text(1, 2, EVIL) + mark(1, 3, 4, "fill-1", EVIL))

    assert [shape.words for shape in shapes(chart) if shape.tag == "text"] == [EVIL]
    assert "<script" not in inline(chart)


def test_a_figure_says_what_it_shows_to_those_who_cannot_see_it() -> None:
    drawn = inline(_chart(""))

    assert 'role="img"' in drawn
    assert 'aria-labelledby="one-title one-words"' in drawn
    assert '<title id="one-title">' in drawn
    assert '<desc id="one-words">' in drawn


def test_a_file_of_its_own_needs_no_page() -> None:
    alone = standalone(_chart(bar("one", (0, 0, 10, 5), Style(2, hatched=True))))

    assert "var(" not in alone
    assert "#c2410c" in alone
    for name in re.findall(r"url\(#([^)]+)\)", alone):
        assert f'id="{name}"' in alone


def test_figures_beside_each_other_keep_their_size_and_their_patterns() -> None:
    body = bar("one", (0, 0, 10, 5), Style(2, hatched=True))
    both = arrange("all", "t", [_chart(body), _chart(""), _chart("")], 2)

    assert (both.width, both.height) == (100 + 24 + 100, 50 + 24 + 50)
    assert "url(#all-hatch-2)" in both.body
    assert 'id="all-hatch-2"' in standalone(both)


def test_every_agent_has_a_shape_of_its_own() -> None:
    drawn = {mark(number, 0, 0, "x") for number in range(len(SHAPES))}

    assert len(drawn) == len(SHAPES)
    assert mark(len(SHAPES), 0, 0, "x") == mark(0, 0, 0, "x")


@pytest.mark.parametrize(
    ("low", "high", "result"),
    [
        (0, 1, [0, 0.25, 0.5, 0.75, 1]),
        (0, 0.034, [0, 0.01, 0.02, 0.03, 0.04]),
        (-0.65, 0.2, [-0.75, -0.5, -0.25, 0, 0.25]),
        (0, 0, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_an_axis_has_round_numbers_and_holds_its_values(
    low: float, high: float, result: list[float]
) -> None:
    assert ticks(low, high, 4) == result


def test_a_coordinate_is_short() -> None:
    assert [num(value) for value in (3.0, 3.10, 3.14159, -0.5)] == ["3", "3.1", "3.14", "-0.5"]
