import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.rewriting.json_body.spans import JsonData, parse_spans, span_at
from warex.rewriting.json_body.value_kinds import ValueKind, find_pointers

KINDS: tuple[ValueKind, ...] = (
    *("price", "date", "name", "number"),
    *("text", "user_text", "flag", "list"),
)


def json_string(text: str) -> JsonData:
    return parse_spans(text).data


def is_a(kind: ValueKind, name: str, value: JsonData) -> bool:
    return f"/{name}" in find_pointers(kind, {name: value}, "", 9)


@pytest.mark.parametrize(
    ("text", "name", "kinds"),
    [
        ("3", "total", {"number"}),
        ("3.0", "total", {"number", "price"}),
        ("3", "price", {"number", "price"}),
        ("1e3", "price", set()),
        ("3", "user_id", set()),
        ("-" + "1" * 5000, "n", {"number"}),
        ("NaN", "price", set()),
        ('"3"', "total", {"text"}),
        ('"3.0"', "total", {"text", "price"}),
        ('"$ 3"', "x", {"text", "price"}),
        ('"$"', "x", {"text"}),
        ('"2027-02-28T10:00"', "x", {"text", "date"}),
        ('"2027-02-30"', "x", {"text"}),
        ('"Ann"', "authorName", {"text", "name"}),
        ('"Good"', "reviewBody", {"text", "user_text"}),
        ('""', "name", set()),
        ("true", "price", {"flag"}),
        ("[]", "items", {"list"}),
        ("{}", "name", set()),
        ("null", "name", set()),
    ],
)
def test_a_value_is_of_its_kinds(text: str, name: str, kinds: set[ValueKind]) -> None:
    assert {kind for kind in KINDS if is_a(kind, name, json_string(text))} == kinds


def test_values_of_a_kind_have_pointers_with_the_outermost_first() -> None:
    text = '{"a": {"prices": [1, [2], {"b": 3}], "x~/price": 4}, "price": 5}'

    assert find_pointers("price", json_string(text), "/7", 99) == [
        *("/7/price", "/7/a/x~0~1price", "/7/a/prices/0", "/7/a/prices/1/0"),
    ]
    assert find_pointers("number", json_string("1"), "", 99) == [""]


def test_about_so_many_values_are_looked_at() -> None:
    text = json.dumps([[1] * 10] * 10)

    assert len(find_pointers("number", json_string(text), "", 30)) == 20


_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "$1", "a"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["price", "name", "total", "a/b", "~", ""]), inner)
    ),
    max_leaves=12,
)


@given(_json, st.sampled_from(KINDS))
def test_each_pointer_leads_to_a_value_of_its_own(value: Any, kind: ValueKind) -> None:
    root = parse_spans(json.dumps(value))
    spans = [span_at(root, pointer) for pointer in find_pointers(kind, root.data, "", 1000)]

    begins = [place.begin for place in spans if place is not None]
    assert len({*begins}) == len(spans)
    if kind == "list":
        assert all(root.text[begin] == "[" for begin in begins)
        assert len(begins) == root.text.count("[")
