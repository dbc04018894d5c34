import json
from collections.abc import Iterator

import pytest

from warex.rewriting.json_body.spans import (
    JsonSpan,
    decode_scalar,
    parse_pointer,
    parse_spans,
    span_at,
)

# The examples of RFC 6901, section 5.
TEXT = r"""{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5,
 "k\"l": 6, " ": 7, "m~n": 8}"""


@pytest.mark.parametrize(
    ("pointer", "raw"),
    [
        ("", TEXT),
        ("/foo", '["bar", "baz"]'),
        ("/foo/0", '"bar"'),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/c%d", "2"),
        ("/e^f", "3"),
        ("/g|h", "4"),
        ("/i\\j", "5"),
        ('/k"l', "6"),
        ("/ ", "7"),
        ("/m~0n", "8"),
    ],
)
def test_a_pointer_finds_what_the_standard_says(pointer: str, raw: str) -> None:
    span = span_at(parse_spans(TEXT), pointer)

    assert span is not None
    assert span.raw == raw
    assert span.pointer == pointer


@pytest.mark.parametrize("pointer", ["/foo/2", "/foo/-", "/foo/00", "/bar", "/foo/0/0", "/a/b"])
def test_a_pointer_to_nothing_finds_nothing(pointer: str) -> None:
    assert span_at(parse_spans(TEXT), pointer) is None


def test_a_pointer_means_the_last_of_two_equal_members() -> None:
    span = span_at(parse_spans('{"a":1,"a":2}'), "/a")

    assert span is not None
    assert span.begin == 11


@pytest.mark.parametrize("pointer", ["a", "items/0", "/a~", "/~2", "$.a"])
def test_what_is_not_a_pointer_is_refused_in_a_sentence(pointer: str) -> None:
    with pytest.raises(ValueError, match=r"is not a JSON pointer: .*'"):
        parse_pointer(pointer)


def test_every_value_is_found_with_its_place() -> None:
    text = ' [1 , {"a" :-2.5e3 , "b": [ ] , "c":{}} ,"\\"]" , true,null\n]'

    results = {it.pointer: json.loads(it.raw) for it in _all(parse_spans(text))}

    assert results[""] == json.loads(text)
    assert {name: it for name, it in results.items() if not isinstance(it, list | dict)} == {
        "/0": 1,
        "/1/a": -2500.0,
        "/2": '"]',
        "/3": True,
        "/4": None,
    }
    assert (results["/1/b"], results["/1/c"]) == ([], {})


def test_a_string_says_its_text_and_anything_else_what_is_written() -> None:
    assert [decode_scalar(raw) for raw in ('"a\\n"', "1.50", "null")] == ["a\n", "1.50", "null"]


def _all(value: JsonSpan) -> Iterator[JsonSpan]:
    yield value
    for pending in value.children:
        yield from _all(pending)
