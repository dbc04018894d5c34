import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.exchange import Request, Response
from warex.rewriting.base import Rewriter
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.json_body.value_changes import ValueChangeKind
from warex.seeds import KeyedRng

ASKED = Request("GET", "https://shop.test/api/items")
SHOP = (
    b'{"id":7, "name":"R\xc3\xa9d","price":1.50}\n'
    b"\r\n"
    b'{"id":8,"name":"Blue","price":12.50,"sizes":["S","M"]}\r\n'
    b'{"id":9,"name":"Green","price":"$1,299.00"}'
)
TYPES = ["application/x-ndjson", "application/jsonl; charset=utf-8", "application/stream+json"]


def begun(edit: JsonEdit, content_type: str = TYPES[0]) -> Rewriter:
    rewriting = edit.begin(ASKED, Response(200, {"content-type": content_type}))
    assert rewriting is not None
    return rewriting.body


def changed(edit: JsonEdit, body: bytes = SHOP, content_type: str = TYPES[0]) -> bytes:
    rewriter = begun(edit, content_type)
    return rewriter.feed(body) + rewriter.close()


def edit(how: ValueChangeKind, at: str | None = None, **more: Any) -> JsonEdit:
    return JsonEdit(how, KeyedRng(1, "r"), at, **more)


@pytest.mark.parametrize("content_type", TYPES)
@pytest.mark.parametrize(
    ("how", "at", "before", "after"),
    [
        ("off_by_one", "/1/price", b"12.50", b"13.50"),
        ("nulled", "/0/name", b'"R\xc3\xa9d"', b"null"),
        ("removed", "/1/price", b',"price":12.50', b""),
        ("removed", "/0", SHOP[: SHOP.index(b"\n") + 1], b""),
        ("off_by_one", "/2/price", b"1,299", b"1,298"),
        ("swapped", "/1/sizes/0", b'"S","M"', b'"M","S"'),
        ("emptied", "/1/sizes", b'["S","M"]', b"[]"),
    ],
)
def test_a_pointer_leads_to_a_line_and_into_it_and_every_other_byte_stays(
    content_type: str, how: ValueChangeKind, at: str, before: bytes, after: bytes
) -> None:
    assert changed(edit(how, at), content_type=content_type) == SHOP.replace(before, after, 1)


@pytest.mark.parametrize("at", ["/3/price", "/01/price", "/x", "/1/nothing"])
def test_a_pointer_to_no_line_changes_none(at: str) -> None:
    assert changed(edit("nulled", at)) == SHOP


def test_the_root_pointer_is_the_list_of_lines() -> None:
    assert changed(edit("emptied", "")) == changed(edit("emptied"))
    assert edit("nulled", "").begin(ASKED, Response(200, {"content-type": TYPES[0]})) is None


def test_the_first_values_of_a_kind_are_changed_and_reported_by_line() -> None:
    rewriter = begun(edit("off_by_one", kind="price", count=2))
    out = rewriter.feed(SHOP) + rewriter.close()

    assert out == SHOP.replace(b"1.50", b"2.50").replace(b"12.50", b"13.50")
    assert [(it.where, it.before, it.after) for it in rewriter.changes] == [
        ("/0/price", "1.50", "2.50"),
        ("/1/price", "12.50", "13.50"),
    ]


def test_the_lines_are_a_list_that_can_be_empty_or_lack_every_second_item() -> None:
    lines = SHOP.splitlines(keepends=True)

    assert changed(edit("emptied")) == lines[1]
    assert changed(edit("halved")) == b"".join((lines[0], lines[1], lines[3]))
    rewriter = begun(edit("halved"))
    rewriter.feed(SHOP)
    (change,) = rewriter.changes
    assert (change.where, change.after) == ("/1", None)
    assert json.loads(change.before)["name"] == "Blue"


def test_a_complete_line_is_forwarded_and_all_else_once_nothing_can_change() -> None:
    rewriter = begun(edit("nulled", "/1/a"))

    assert rewriter.feed(b'{"a":1}\n{"a"') == b'{"a":1}\n'
    assert rewriter.feed(b":2}") == b""
    assert rewriter.feed(b'\n{"a"') == b'{"a":null}\n{"a"'
    assert rewriter.feed(b":3") == b":3"
    assert rewriter.close() == b""


def test_a_sequence_has_a_separator_before_each_item() -> None:
    body = b'\x1e{"a":1}\n\x1e{"a":2}\n\x1e[\n"a"\n]\n'

    def made(it: JsonEdit) -> bytes:
        return changed(it, body, "application/geo+json-seq")

    assert made(edit("nulled", "/1/a")) == body.replace(b"2", b"null")
    assert made(edit("removed", "/0")) == body[len(b'\x1e{"a":1}\n') :]
    assert made(edit("nulled", kind="text")) == body
    assert made(edit("emptied")) == b'\x1e[\n"a"\n]\n'


def test_a_mark_of_byte_order_stays() -> None:
    body = b'\xef\xbb\xbf{"a":1}\n'
    assert changed(edit("nulled", "/0/a"), body) == body.replace(b"1", b"null")


@pytest.mark.parametrize(
    "line", [b"{", b'{"a":1}x', b"[" * 200_000, b"\xff\xfe", b'{"a":"\xff"}', b"[DONE]"]
)
def test_a_line_that_is_not_json_passes_and_counts_as_one(line: bytes) -> None:
    body = line + b'\n{"a":1}\n'
    assert changed(edit("nulled", "/1/a"), body) == line + b'\n{"a":null}\n'
    assert changed(edit("nulled", kind="number"), body).endswith(b'\n{"a":null}\n')


def test_a_line_too_long_to_be_held_passes_and_counts_as_one() -> None:
    rewriter = begun(edit("nulled", "/1/a"))
    piece = b"1," * 1_000_000
    out = rewriter.feed(b"[")
    out += b"".join(rewriter.feed(piece) for _ in range(6))
    out += rewriter.feed(b'1]\n{"a":1}\n') + rewriter.close()

    assert out == b"[" + piece * 6 + b'1]\n{"a":null}\n'


_lines = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.sampled_from([b"", b" ", b"\x1e", b'{"price":"$1"}', b"[1,2]", b'{"price":1.5}\r']),
    ),
    max_size=6,
)
_edits = st.builds(
    JsonEdit,
    st.sampled_from(["nulled", "removed", "off_by_one", "swapped", "emptied", "halved"]),
    st.builds(KeyedRng, st.integers(0, 9), st.just("r")),
    at=st.none() | st.sampled_from(["/0", "/1/price", "/0/1"]),
    kind=st.none() | st.sampled_from(["price", "number", "list"]),
    count=st.integers(1, 3),
)


@given(_lines, _edits, st.integers(1, 9), st.sampled_from([TYPES[0], "application/json-seq"]))
def test_the_result_does_not_depend_on_how_lines_are_split(
    lines: list[bytes], edit: JsonEdit, size: int, content_type: str
) -> None:
    body = b"\n".join(lines)
    rewriter = begun(edit, content_type)
    out = b"".join(rewriter.feed(body[at : at + size]) for at in range(0, len(body), size))
    out += rewriter.close()

    assert out == changed(edit, body, content_type)
    assert rewriter.applied == (out != body)
    if not rewriter.applied:
        assert not rewriter.changes
