import pytest

from warex.rewriting.json_body.spans import parse_spans
from warex.rewriting.json_body.value_changes import ValueChangeKind, next_amount, replacements
from warex.seeds import KeyedRng


@pytest.mark.parametrize(
    ("amount", "other"),
    [("12.50", "13.50"), ("9", "8"), ("1,299", "1,298"), ("1.299,00", "1.298,00"), ("0.5", "1.5")],
)
def test_another_amount_is_written_alike(amount: str, other: str) -> None:
    assert next_amount(amount) == other


@pytest.mark.parametrize(
    ("how", "value"),
    [
        ("truncated", "7"),
        ("truncated", "null"),
        ("off_by_one", "null"),
        ("off_by_one", "1e99"),
        ("off_by_one", "1" * 50),
        ("off_by_one", '"none"'),
        ("other_unit", '"none"'),
        ("nulled", "null"),
        ("removed", "1"),
        ("swapped", "1"),
        ("emptied", "[]"),
        ("halved", "[1]"),
        ("halved", "{}"),
    ],
)
def test_a_change_that_does_not_apply_changes_nothing(how: ValueChangeKind, value: str) -> None:
    assert replacements(how, parse_spans(value), KeyedRng(1, "r")) == ()
