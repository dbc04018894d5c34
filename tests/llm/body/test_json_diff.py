import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from warex.llm.body.json_diff import Difference, distance, first_difference

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("recorded", "asked", "difference"),
    [
        (
            {"messages": [{"content": "It is 12:01."}]},
            {"messages": [{"content": "It is 12:04."}]},
            Difference("messages[0].content", '"It is 12:01."', '"It is 12:04."'),
        ),
        ({"a": [1]}, {"a": [1, {"b": 2}]}, Difference("a[1]", None, '{"b": 2}')),
        ({"a": 1, "b": 2}, {"b": 2}, Difference("a", "1", None)),
        ({"a": None}, {}, Difference("a", "null", None)),
        ({"a": True}, {"a": 1}, Difference("a", "true", "1")),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
    ],
)
def test_the_first_difference_is_named_with_its_values(
    recorded: JsonValue, asked: JsonValue, difference: Difference | None
) -> None:
    assert first_difference(recorded, asked) == difference


def test_a_long_text_is_shown_where_it_differs() -> None:
    page = "x" * 500
    difference = first_difference({"text": f"{page}one{page}"}, {"text": f"{page}two{page}"})

    assert difference is not None
    assert difference.recorded == f'"…{"x" * 30}one{"x" * 67}…"'
    assert difference.asked == f'"…{"x" * 30}two{"x" * 67}…"'


def test_a_long_value_is_shortened() -> None:
    difference = first_difference({}, {"tools": ["click"] * 100})

    assert difference is not None
    assert len(difference.asked or "") == 101


def test_the_distance_grows_with_what_differs() -> None:
    asked: JsonValue = {"messages": ["a", "b", "c"]}

    assert distance(asked, {"messages": ["a", "b", "c"]}) == 0
    assert distance(asked, {"messages": ["A", "b", "c"]}) == 1
    assert distance(asked, {"messages": ["a"]}) == 2
    assert distance(asked, {"messages": ["a", "b", "c", {"role": "user", "text": "d"}]}) == 2


@given(one=JSON, other=JSON)
def test_two_values_differ_if_they_are_some_way_apart(one: JsonValue, other: JsonValue) -> None:
    assert (first_difference(one, other) is None) == (distance(one, other) == 0)
    assert distance(one, other) == distance(other, one)
