from typing import Any

import pytest

from warex.traces.redaction.named.tables import secret_columns
from warex.traces.redaction.structured import redact_json


@pytest.mark.parametrize(("head", "rows"), [("columns", "rows"), ("headers", "data")])
def test_the_column_of_a_secret_is_gone_and_the_others_stay(head: str, rows: str) -> None:
    table = {head: ["user", "password", "age"], rows: [["bob", "meadow", 7], ["eve", "window", 8]]}

    cleaned = redact_json(table)  # type: ignore[arg-type]

    assert cleaned == {
        head: ["user", "password", "age"],
        rows: [["bob", "[redacted]", 7], ["eve", "[redacted]", 8]],
    }


@pytest.mark.parametrize(
    "value",
    [
        {"columns": ["user", "city"], "rows": [["bob", "Bonn"]]},
        {"required": ["user", "password"], "enum": ["a", "b"]},
        {"columns": ["user", "password"], "rows": [["bob"]]},
        {"columns": ["user", "password"], "rows": []},
        {"columns": ["user", "password"], "others": ["user", "password"], "rows": [["a", "b"]]},
    ],
)
def test_what_is_not_a_table_with_a_secret_stays(value: dict[str, Any]) -> None:
    assert not any(secret_columns(value).values())
    assert redact_json(value) == value
