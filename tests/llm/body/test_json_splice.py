"""One place of a JSON text changes, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from warex.llm.body.json_splice import (
    append_item,
    append_to_string,
    items,
    member,
    prepend_item,
    replace,
    root,
)

ODD = '{"n":1.10e+2,\n "a" : [ {"x":"\\u00e9é\\ud83d"} ,7 ] , "s":"","a":[]}'

values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
layouts = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])


@given(before=values, name=st.text(), value=values, after=values, layout=layouts)
def test_a_members_span_is_returned(
    before: JsonValue, name: str, value: JsonValue, after: JsonValue, layout: dict[str, object]
) -> None:
    sent = {f"{name}-": before, name: value, f"{name}+": after}
    text = json.dumps(sent, **layout)  # type: ignore[arg-type]

    place = member(text, root(text), name)

    assert place is not None
    assert json.loads(text[place.begin : place.end]) == value
    assert member(text, root(text), f"{name}?") is None


@given(array=st.lists(values, max_size=5), more=values, layout=layouts)
def test_an_item_is_put_at_either_end(
    array: list[JsonValue], more: JsonValue, layout: dict[str, object]
) -> None:
    text = json.dumps(array, **layout)  # type: ignore[arg-type]

    assert [json.loads(text[p.begin : p.end]) for p in items(text, root(text))] == array
    assert json.loads(prepend_item(text, root(text), more)) == [more, *array]
    assert json.loads(append_item(text, root(text), more)) == [*array, more]


@given(string=st.text(), more=st.text(), layout=layouts)
def test_a_string_is_lengthened(string: str, more: str, layout: dict[str, object]) -> None:
    text = json.dumps(string, **layout)  # type: ignore[arg-type]

    assert json.loads(append_to_string(text, root(text), more)) == string + more


def test_all_else_stays_as_it_was_written() -> None:
    s = member(ODD, root(ODD), "s")
    assert s is not None

    assert append_to_string(ODD, s, "é\n") == ODD.replace('"s":""', '"s":"\\u00e9\\n"')
    assert replace(ODD, s, None) == ODD.replace('"s":""', '"s":null')


def test_the_last_of_two_equal_members_counts() -> None:
    place = member(ODD, root(ODD), "a")

    assert place is not None
    assert append_item(ODD, place, 1) == ODD[:-2] + "1]}"


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} x', "nonsense"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expecting"):
        root(text)
