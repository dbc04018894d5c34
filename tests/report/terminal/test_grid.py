from io import StringIO

import pytest
from rich.console import Console, RenderableType

from warex.report.terminal.grid import DefinitionList, Grid, Heading, wrap


def _lines(what: RenderableType, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width)
    console.print(what)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_words_are_left_and_numbers_right_aligned() -> None:
    grid = Grid((Heading("name", True), Heading("n")), (("a", "1"), ("bb", "100")))

    assert _lines(grid, 80) == ["name    n", "─────────", "a       1", "bb    100"]


def test_columns_that_do_not_fit_move_below() -> None:
    heads = (Heading("name", True), *(Heading(f"column{n}") for n in range(4)))
    grid = Grid(heads, (("a-name", *("123456789" for _ in range(4))),))

    assert [line.split() for line in _lines(grid, 40)] == [
        ["name", "column0", "column1", "column2"],
        ["─" * 39],
        ["a-name", "123456789", "123456789", "123456789"],
        [],
        ["name", "column3"],
        ["─" * 17],
        ["a-name", "123456789"],
    ]


@pytest.mark.parametrize("width", range(30, 90, 7))
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    heads = (
        Heading("agent", True),
        Heading("condition", True),
        Heading("success"),
        Heading("total cost"),
    )
    rows = (("x" * 120, "a-long-condition/with-many-parts", "10/10 100 % [72, 100]", "$1.00"),)

    lines = _lines(Grid(heads, rows), width)

    assert max(map(len, lines)) <= max(width, 47)
    assert any("10/10 100 % [72, 100]" in line for line in lines)


def test_a_text_is_broken_where_its_words_end() -> None:
    assert wrap("network-error+refresh-hint", 14) == ["network-error+", "refresh-hint"]
    assert wrap("https://shop.example/static/app.js?v=1", 16) == [
        "https://shop.",
        "example/static/",
        "app.js?v=1",
    ]
    assert wrap("xxxxxxxxxx", 4) == ["xxxx", "xxxx", "xx"]
    assert wrap("日本語の名前", 6) == ["日本語", "の名前"]
    assert wrap("", 4) == [""]


def test_what_a_terminal_would_obey_is_shown_and_has_a_width() -> None:
    grid = Grid((Heading("name", True), Heading("n")), (("\x1b[31m", "1"),))

    assert _lines(grid, 80)[2] == "␛[31m  1"


def test_words_beside_a_label_are_folded_between_words() -> None:
    entries = DefinitionList((("cost", "under network-error it is the same"),))

    assert _lines(entries, 32) == [
        "  cost  under network-error it",
        "        is the same",
    ]


def test_a_title_above_rows_widens_no_column() -> None:
    titles = ((0, "a title"), (1, "a title longer than all columns"))
    grid = Grid((Heading("n"),), (("1",), ("2",)), titles=titles)

    assert _lines(grid, 80) == [
        "n",
        "─",
        "a title",
        "1",
        "",
        "a title longer than all columns",
        "2",
    ]
