import pytest

from tests.report.builders import row
from warex.analysis.injections import Ledger
from warex.analysis.intervals import Mean, Rate
from warex.analysis.table import Delta, Intervals, RecoveryPrice
from warex.report.columns import COLUMNS, columns
from warex.report.figures import UNKNOWN

FULL = row(
    "down",
    3,
    4,
    delta=Delta(-0.25, 4, (-0.6, 0.1), 0.5, 1.0, "mcnemar"),
    exposed_delta=Delta(-0.5, 2),
    r_fault=Mean(0.75, (0.5, 1.0), 4),
    pass_k=((1, 0.75), (2, 0.5)),
    latency_s=3.0,
    intervals=Intervals(latency_s=(2.0, 4.0)),
    recovery=Rate(3, 4),
    injections_recovered=Rate(1, 2),
    recovery_price=RecoveryPrice(3.0, 1.0, 2030.0, 1),
    tries=Mean(1.5, (1.0, 2.0), 2),
)


def _cell(title: str, of: object = FULL) -> tuple[str, tuple[object, ...]]:
    [column] = columns(title)
    cell = column.fill(of)  # type: ignore[arg-type] # a row
    return cell.text, cell.values


@pytest.mark.parametrize(
    ("title", "text", "values"),
    [
        ("Δ clean", "-25 [-60, +10]", (-0.25, -0.6, 0.1, 4, 0.5, "mcnemar")),
        ("adj. p", "1.000", (1.0,)),
        ("Δ exposed", "-50", (-0.5, None, None, 2, None, None)),
        ("R_fault", "0.75 [0.50, 1.00]", (0.75, 0.5, 1.0)),
        ("pass^k", "50 % (k 2)", (2, 0.5)),
        ("latency", "3.0 s", (3.0, 2.0, 4.0)),
        ("RR", "3/4 75 %", (0.75, 4, *Rate(3, 4).interval)),
        ("RR per injection", "1/2 50 %", (0.5, 2, *Rate(1, 2).interval)),
        ("price", "3.0 s, 1.0 step, 2,030 tokens", (3.0, 1.0, 2030.0, 1)),
        ("tries", "1.50", (1.5, 1.0, 2.0)),
        ("cost", UNKNOWN, (None, None, None, None)),
    ],
)
def test_a_cell_is_read_as_text_and_kept_as_numbers(
    title: str, text: str, values: tuple[object, ...]
) -> None:
    assert _cell(title) == (text, values)


@pytest.mark.parametrize("of", [FULL, row("clean", 0, 0)], ids=["full", "bare"])
def test_every_column_has_as_many_numbers_as_names_for_them(of: object) -> None:
    for column in COLUMNS:
        cell = column.fill(of)  # type: ignore[arg-type] # a row
        assert cell.text, column.title
        assert len(cell.values) == len(column.keys), column.title


def test_what_nobody_watched_is_a_dash_and_an_empty_field() -> None:
    titles = ("reloads", "duplicated writes", "healed", "undecided", "replayed")
    ledger = ("planned", "delivered", "missed", "why missed", "not eligible")

    for title in (*titles, *ledger):
        assert _cell(title, row("no-proxy")) == (UNKNOWN, (None,)), title
    assert _cell("reloads", row("clean", reloads=0)) == ("0", (0,))
    assert _cell("missed", row("clean", ledger=Ledger(0, 0, (), ()))) == ("0", (0,))


def test_lies_are_told_by_what_became_of_them() -> None:
    lies = (("noticed", 2), ("passed_on", 1))

    assert _cell("lies", row("down", lies=lies))[0] == "noticed 2, passed on 1"


def test_no_two_columns_share_a_title_or_a_name() -> None:
    titles = [column.title for column in COLUMNS]
    keys = [key for column in COLUMNS for key in column.keys]

    assert len(set(titles)) == len(titles)
    assert len(set(keys)) == len(keys)


def test_pairs_are_told_where_they_are_not_the_trials() -> None:
    [column] = columns("Δ clean")

    assert column.fill(FULL).more == ""
    assert column.fill(row("down", 1, 5, delta=Delta(0.0, 4))).more == "4 pairs"
