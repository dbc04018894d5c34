from tests.exports.builders import failure, row
from warex.exports.balance import balance_rows

ROWS = [*(row(f"c{at}") for at in range(20)), *(failure(f"f{at}") for at in range(5))]


def kinds(rows: object) -> tuple[int, int]:
    kinds = [row.kind for row in rows]  # type: ignore[attr-defined]
    return kinds.count("failure"), kinds.count("clean")


def test_there_are_as_many_clean_rows_as_failures() -> None:
    assert kinds(balance_rows(ROWS, 1.0, 0)) == (5, 5)
    assert kinds(balance_rows(ROWS, 2.0, 0)) == (5, 10)
    assert kinds(balance_rows(ROWS[:3] + ROWS[20:], 1.0, 0)) == (3, 3)


def test_the_seed_chooses_and_the_order_stays() -> None:
    one, other = balance_rows(ROWS, 1.0, 0), balance_rows(ROWS, 1.0, 1)

    assert one == balance_rows(ROWS, 1.0, 0)
    assert one != other
    assert list(one) == [it for it in ROWS if it in one]


def test_rows_of_one_kind_stay() -> None:
    assert balance_rows(ROWS[:3], 1.0, 0) == tuple(ROWS[:3])


def test_the_limit_on_failures_also_limits_clean_rows() -> None:
    assert kinds(balance_rows(ROWS, 2.0, 0, most=3)) == (3, 6)
    assert kinds(balance_rows(ROWS, None, 0, most=3)) == (3, 3)
    assert kinds(balance_rows(ROWS, None, 0)) == (5, 20)
    assert kinds(balance_rows(ROWS[:9], 1.0, 0, most=4)) == (0, 4)
