from bench.row import Row
from bench.table import markdown


def _row(measured: float | None, target: float, *, at_least: bool = False) -> Row:
    return Row("speed", "how fast", measured, "ms", target, at_least=at_least, detail="said")


def test_a_target_is_met_or_missed() -> None:
    assert _row(1, 2).ok is True
    assert _row(3, 2).ok is False
    assert _row(3, 2, at_least=True).ok is True


def test_a_row_that_was_not_measured_is_neither_met_nor_missed() -> None:
    assert _row(None, 2).ok is None


def test_what_could_not_be_measured_says_so_in_the_page() -> None:
    page = markdown([_row(None, 2), _row(3, 2)], {"cores": "2"})

    assert "| not measured | ≤ 2 ms | said |" in page
    assert page.count("missed") == 1
