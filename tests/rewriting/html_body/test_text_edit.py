import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rewriting.html_body.test_head_inserter import ENCODINGS, PARTS
from warex.exchange import Request, Response
from warex.rewriting.base import Rewriter
from warex.rewriting.html_body.text_edit import TextEdit
from warex.rewriting.html_body.text_kinds import TextKind
from warex.rewriting.html_body.tokenizer import HtmlStream
from warex.seeds import KeyedRng

ASKED = Request("GET", "https://shop.test/")
LUCK = KeyedRng(1, "r")


def begun(edit: TextEdit, kind: str = "text/html; charset=utf-8") -> Rewriter:
    rewriting = edit.begin(ASKED, Response(200, {"content-type": kind}))
    assert rewriting is not None
    return rewriting.body


def changed(kind: TextKind, page: str, nth: int = 1, count: int = 1, size: int = 9999) -> str:
    rewriter = begun(TextEdit(kind, LUCK, nth, count))
    body = page.encode()
    out = b"".join(rewriter.feed(body[at : at + size]) for at in range(0, len(body), size))
    return (out + rewriter.close()).decode()


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("price", "$12.50", "$13.50"),
        ("price", "$9.99", "$8.99"),
        ("price", "$1,299", "$1,298"),
        ("price", "1.299,00 \u20ac", "1.298,00 \u20ac"),
        ("price", "\u20ac12", "\u20ac13"),
        ("price", "EUR&nbsp;5.00", "EUR&nbsp;6.00"),
        ("price", "&pound;5.00", "&pound;6.00"),
        ("date", "2027-03-12", "2027-03-11"),
        ("date", "12 March 2027", "11 March 2027"),
        ("date", "Mar 3, 2027", "Mar 4, 2027"),
        ("date", "31 Dec", "30 Dec"),
        ("date", "03/04/2027", "03/05/2027"),
        ("date", "25/12/2027", "26/12/2027"),
        ("number", "3 items", "4 items"),
        ("name", "by Anna Smith.", "by Anna Tanaka."),
    ],
)
def test_a_value_becomes_another_and_every_other_byte_stays(
    kind: TextKind, before: str, after: str
) -> None:
    page = "<!doctype html>\r\n<p class='$1'>\u00e4 {} \u65e5\u672c</p><!-- $3 --><b>1</b>"

    assert changed(kind, page.format(before)) == page.format(after)


@pytest.mark.parametrize("size", [1, 2, 7, 9999])
def test_a_text_that_comes_in_pieces_is_one_text(size: int) -> None:
    page = "<p>a &amp; $12</p>\r\n<p>x &euro;12.50</p><p>$1</p>"

    assert changed("price", page, 2, 2, size) == (
        "<p>a &amp; $12</p>\r\n<p>x &euro;13.50</p><p>$2</p>"
    )


@pytest.mark.parametrize(
    "unseen",
    [
        "<title>$1</title>",
        "<head><meta content='$1'></head>",
        "<script>a = '<p>$1'</script>",
        "<style>a{content:'$1'}</style>",
        "<textarea>$1 &amp; </textarea>",
        "<template><p>$1</p></template>",
        "<noscript><p>$1</p></noscript>",
        "<img alt='$1'>",
        "<!-- $1 -->",
    ],
)
def test_only_what_is_read_is_changed(unseen: str) -> None:
    assert changed("price", f"{unseen}<p>$5</p>") == f"{unseen}<p>$6</p>"
    assert changed("price", unseen) == unseen


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("number", "a1 1a 10:30 1/2 2027-01-02 &#49; 5% \u65e53\u672c x-1"),
        ("price", "12 items, no price"),
        ("name", "Anna, SMITH, anna smith, \u00c4nna \u00c4smith"),
        ("date", "in 2027, 45, marching 3"),
    ],
)
def test_what_is_not_of_the_kind_stays(kind: TextKind, text: str) -> None:
    assert changed(kind, f"<p>{text}</p>") == f"<p>{text}</p>"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_page_in_any_encoding_keeps_it(encoding: str) -> None:
    page = "<p>$12.50</p> 2 March"
    rewriter = begun(TextEdit("price", LUCK), ENCODINGS[encoding])

    out = rewriter.feed(page.encode(encoding)) + rewriter.close()

    assert out.decode(encoding) == page.replace("12", "13")


def test_a_page_without_a_body_tag_has_text() -> None:
    assert changed("price", "<head><title>a</title><p>$5") == "<head><title>a</title><p>$6"


def test_what_was_changed_is_reported_as_it_is_read() -> None:
    rewriter = begun(TextEdit("price", LUCK))
    rewriter.feed(b"<p>a</p>\n<p>&euro;&nbsp;12.50")
    rewriter.close()

    (change,) = rewriter.changes
    assert (change.where, change.before, change.after) == (
        "line 2", "\u20ac\xa012.50", "\u20ac\xa013.50",
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_what_is_not_a_page_is_unchanged(kind: str) -> None:
    edit = TextEdit("price", LUCK)

    assert edit.begin(ASKED, Response(200, {"content-type": kind})) is None
    assert edit.begin(ASKED, Response(206, {"content-type": "text/html"})) is None
    assert (
        edit.begin(Request("HEAD", ASKED.url), Response(200, {"content-type": "text/html"})) is None
    )


_PAGES = st.lists(
    st.sampled_from(
        [it.replace("@", " ") for it in PARTS.split(" ")]
        + ["$12.50", "2027-03-12", "Anna Smith", "&#36;5", "\u20ac", "3", "<p>", "</template>"]
    ),
    max_size=14,
).map("".join)


@given(
    _PAGES.map(lambda page: page.encode("utf-8", "surrogatepass")) | st.binary(max_size=60),
    st.sampled_from(["price", "date", "name", "number"]),
    st.integers(1, 3),
    st.sampled_from(sorted(ENCODINGS.values())),
    st.integers(1, 9),
)
def test_any_page_differs_by_what_is_reported_and_no_more(
    body: bytes, kind: TextKind, count: int, content_type: str, size: int
) -> None:
    rewriter = begun(TextEdit(kind, LUCK, count=count), content_type)
    out = b"".join(rewriter.feed(body[at : at + size]) for at in range(0, len(body), size))
    out += rewriter.close()

    assert len(rewriter.changes) <= count
    assert rewriter.applied == (out != body)
    if kind != "name":
        assert len(out) == len(body)
        differ = sum(one != other for one, other in zip(out, body, strict=True))
        assert differ <= 2 * len(rewriter.changes)


def test_a_page_can_ask_for_the_changes_of_its_texts() -> None:
    texts = ["Kettle", "$12.50 or \u20ac 9", "no $", "now $3, then $4"]
    asked = json.dumps([[text, at] for at, text in enumerate(texts)])
    put, changes = TextEdit("price", LUCK, nth=2, count=2).answer(asked)

    assert put == [[1, [[12, 13, "8"]]], [3, [[5, 6, "4"]]]]
    assert [(it.where, it.before, it.after) for it in changes] == [
        ("price 2", "\u20ac 9", "\u20ac 8"),
        ("price 3", "$3", "$4"),
    ]


def test_texts_that_say_the_same_in_one_place_are_one_value() -> None:
    asked = json.dumps([["Price: $9.50", 1], ["$9.50", 1], ["$9.50", 2], ["$7, $7", 3]])

    put, changes = TextEdit("price", LUCK).answer(asked)
    assert put == [[0, [[8, 12, "8.50"]]], [1, [[1, 5, "8.50"]]]]
    assert [(it.where, it.before) for it in changes] == [("price 1", "$9.50")]
    put, changes = TextEdit("price", LUCK, nth=3, count=9).answer(asked)
    assert put == [[3, [[1, 2, "8"], [5, 6, "8"]]]]
    assert [it.where for it in changes] == ["price 3", "price 4"]


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_every_question_of_a_page_is_answered(asked: str) -> None:
    put, changes = TextEdit("price", LUCK).answer(asked)

    assert isinstance(put, list)
    assert bool(put) == bool(changes)


@given(_PAGES, st.sampled_from(["price", "date", "name", "number"]), st.integers(1, 9))
def test_a_text_edit_does_not_depend_on_the_pieces(page: str, kind: TextKind, size: int) -> None:
    body = page.encode("utf-8", "surrogatepass")
    pieces, full = (begun(TextEdit(kind, LUCK, 2, 2)) for _ in range(2))
    out = b"".join(pieces.feed(body[at : at + size]) for at in range(0, len(body), size))

    assert out + pieces.close() == full.feed(body) + full.close()
    assert pieces.changes == full.changes


def test_a_page_without_a_match_is_neither_parsed_nor_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(HtmlStream, "tokens", None)
    rewriter = begun(TextEdit("price", LUCK))
    row = b"<tr><td>4 of 5</td><td>$(x)</td></tr>\n<p>and so "

    assert rewriter.feed(row) == row.removesuffix(b"and so ")
    assert rewriter.feed(b"on") == b""
    assert rewriter.close() == b"and so on"
