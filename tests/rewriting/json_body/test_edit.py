import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.exchange import Request, Response
from warex.rewriting.base import Rewriter
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.json_body.value_changes import ValueChangeKind
from warex.rewriting.json_body.value_kinds import ValueKind
from warex.seeds import KeyedRng

ASKED = Request("GET", "https://shop.test/api/items")
JSON = {"content-type": "application/json; charset=utf-8"}
SHOP = (
    '{ "currency":"USD", "total": 3,\n "items" : [ {"id":7,"name":"R\\u00e9d","price":1.50e0},'
    '{"id":8, "name":"Blue","price":12.50,"on":"2027-02-28T10:00Z","sale":true },'
    '{"id":9,"name":"Gr\u00fcn","price":"$1,299.00","weight":"5 kg"}], "next":null }'
)
HOWS: tuple[ValueChangeKind, ...] = (
    *("nulled", "other_type", "removed", "truncated", "off_by_one", "swapped", "other_unit"),
    *("emptied", "halved"),
)


def begun(edit: JsonEdit, headers: dict[str, str] = JSON) -> Rewriter:
    rewriting = edit.begin(ASKED, Response(200, headers))
    assert rewriting is not None
    return rewriting.body


def changed(how: ValueChangeKind, at: str | None, text: str = SHOP, **more: Any) -> str:
    rewriter = begun(JsonEdit(how, KeyedRng(1, "r"), at, **more))
    return (rewriter.feed(text.encode()) + rewriter.close()).decode()


@pytest.mark.parametrize(
    ("how", "at", "before", "after"),
    [
        ("nulled", "/items/1/price", "12.50", "null"),
        ("nulled", "/items/1/name", '"Blue"', "null"),
        ("other_type", "/items/1/price", "12.50", '"12.50"'),
        ("other_type", "/items/1/name", '"Blue"', '["Blue"]'),
        ("removed", "/items/1/price", ',"price":12.50', ""),
        ("removed", "/items/1/id", '"id":8, ', ""),
        ("truncated", "/items/1/price", "12.50", "1.50"),
        ("truncated", "/items/1/name", '"Blue"', '"Bl"'),
        ("off_by_one", "/items/1/price", "12.50", "13.50"),
        ("off_by_one", "/items/1/id", '"id":8', '"id":9'),
        ("off_by_one", "/items/1/on", "2027-02-28", "2027-03-01"),
        ("off_by_one", "/items/1/sale", "true", "false"),
        ("off_by_one", "/items/2/price", "$1,299.00", "$1,298.00"),
        ("other_unit", "/items/1/price", SHOP, SHOP),
        ("other_unit", "/items/2/weight", "5 kg", "5 lb"),
        ("other_unit", "/total", '"USD"', '"EUR"'),
        ("emptied", "/items/5", "", ""),
    ],
)
def test_a_value_at_a_pointer_is_changed_and_every_other_byte_stays(
    how: ValueChangeKind, at: str, before: str, after: str
) -> None:
    assert changed(how, at) == SHOP.replace(before, after, 1)


def test_values_of_two_records_change_places() -> None:
    text = '[{"a": {"p": 1.0}}, {"a": {"p": 1.0}}, {"a": {"p":2}}]'

    assert changed("swapped", "/0/a/p", text) == (
        '[{"a": {"p": 2}}, {"a": {"p": 1.0}}, {"a": {"p":1.0}}]'
    )


def test_a_list_without_items_is_counted_as_none() -> None:
    was, now = json.loads(SHOP), json.loads(changed("emptied", None))

    assert now == {**was, "items": [], "total": 0}


def test_a_list_with_every_second_item_is_counted_so() -> None:
    was, now = json.loads(SHOP), json.loads(changed("halved", "/items"))

    assert now == {**was, "items": was["items"][::2], "total": 2}


def test_a_total_of_all_pages_stays_when_a_page_is_halved() -> None:
    assert '"total": 99' in changed("halved", None, SHOP.replace('"total": 3', '"total": 99'))


@pytest.mark.parametrize(
    ("kind", "fits"),
    [
        ("price", {"/items/1/price", "/items/2/price"}),
        ("date", {"/items/1/on"}),
        ("name", {"/items/0/name", "/items/1/name", "/items/2/name"}),
        ("number", {"/total", "/items/1/price"}),
        ("flag", {"/items/1/sale"}),
    ],
)
def test_the_seed_chooses_among_the_values_of_a_kind(kind: ValueKind, fits: set[str]) -> None:
    result = set()
    for seed in range(60):
        rewriter = begun(JsonEdit("nulled", KeyedRng(seed, "r"), kind=kind))
        rewriter.feed(SHOP.encode())
        rewriter.close()
        result |= {it.where for it in rewriter.changes}

    assert result == fits


def test_what_was_changed_is_reported_with_both_values() -> None:
    rewriter = begun(JsonEdit("swapped", KeyedRng(1, "r"), "/items/1/name"))
    rewriter.feed(SHOP.encode())
    rewriter.close()

    changes = {it.where: it for it in rewriter.changes}
    one = changes.pop("/items/1/name")
    (other,) = changes.values()
    assert (one.before, one.after) == ("Blue", other.before)
    assert other.after == "Blue"


def test_a_guard_before_the_json_stays() -> None:
    assert changed("nulled", "/a", ')]}\'\n{"a":1}') == ')]}\'\n{"a":null}'


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.encode("latin-1"),
        lambda text: text.encode("utf-16-le"),
        lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    ],
)
def test_json_in_any_encoding_keeps_it(encode: Callable[[str], bytes]) -> None:
    rewriter = begun(JsonEdit("off_by_one", KeyedRng(1, "r"), "/items/1/price"))

    out = rewriter.feed(encode(SHOP)) + rewriter.close()

    assert out == encode(SHOP.replace("12.50", "13.50"))


@pytest.mark.parametrize("kind", ["text/html", "text/event-stream", "", "jsonp"])
def test_what_is_not_json_is_unchanged(kind: str) -> None:
    edit = JsonEdit("nulled", KeyedRng(1, "r"), "/a")

    assert edit.begin(ASKED, Response(200, {"content-type": kind})) is None
    for status in (204, 206, 304):
        assert edit.begin(ASKED, Response(status, JSON)) is None
    assert edit.begin(Request("HEAD", ASKED.url), Response(200, JSON)) is None


@pytest.mark.parametrize("text", ["", "{", '{"a":1', "[" * 200_000, '{"a":1}x', "\ud800"])
def test_broken_json_passes_as_it_is(text: str) -> None:
    body = text.encode("utf-8", "surrogatepass")
    rewriter = begun(JsonEdit("nulled", KeyedRng(1, "r"), "/a"))

    assert rewriter.feed(body) + rewriter.close() == body
    assert not rewriter.applied


def test_an_answer_too_large_to_be_held_passes_piece_by_piece() -> None:
    rewriter = begun(JsonEdit("nulled", KeyedRng(1, "r"), "/0"))
    piece = b"[1," + b"1," * 1_000_000
    out = b"".join(rewriter.feed(piece) for _ in range(10)) + rewriter.close()

    assert out == piece * 10
    assert not rewriter.applied


_json: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(max_size=8)
    | st.sampled_from(["$12.50", "2027-02-28", "5 kg"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["price", "name", "total", "a/b", "~"]), inner)
    ),
    max_leaves=12,
)
_edits = st.builds(
    JsonEdit,
    st.sampled_from(HOWS),
    st.builds(KeyedRng, st.integers(0, 9), st.just("r")),
    at=st.none() | st.sampled_from(["", "/0", "/price", "/a~1b/0", "/~0/name"]),
    kind=st.sampled_from(["price", "date", "name", "number", "text", "flag", "list"]),
    count=st.integers(1, 3),
)


@given(_json, _edits, st.integers(1, 9), st.booleans())
def test_edited_json_stays_json_and_differs_as_reported(
    value: Any, edit: JsonEdit, size: int, wide: bool
) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1 if wide else None)
    body = text.encode("utf-8", "surrogatepass")
    rewriter = begun(edit)
    out = b"".join(rewriter.feed(body[at : at + size]) for at in range(0, len(body), size))
    out += rewriter.close()

    assert rewriter.applied == (out != body)
    if out.strip():
        json.loads(out)
    else:
        assert edit.how == "removed"


@given(st.binary(max_size=60), _edits, st.integers(1, 9))
def test_any_bytes_raise_nothing(body: bytes, edit: JsonEdit, size: int) -> None:
    rewriter = begun(edit)
    out = b"".join(rewriter.feed(body[at : at + size]) for at in range(0, len(body), size))
    out += rewriter.close()

    assert rewriter.applied == (out != body)
