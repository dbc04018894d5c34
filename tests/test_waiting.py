"""Waiting in tests."""

from functools import partial

import pytest

from tests.waiting import wait_until


def test_a_timeout_names_the_condition_and_its_last_value() -> None:
    rows: list[str] = []
    with pytest.raises(AssertionError, match=r"last False: wait_until\(lambda: len\(rows\)"):
        wait_until(lambda: len(rows) > 1, 0)
    with pytest.raises(AssertionError, match=r"last '': str.strip\(' '\)"):
        wait_until(partial(str.strip, " "), 0)


def test_waiting_ends_as_soon_as_the_condition_is_true() -> None:
    values = iter((0, 0, 7))
    wait_until(lambda: next(values))
    assert next(values, None) is None
