from collections.abc import Iterable

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from warex.rewriting.html_body.head_inserter import HeadInserter

MARKUP = "<script>run()</script>"
PARTS = (
    "<html> <html@lang=x> <head> </head> <body> </body> <p> </p> text <br> </br> </html> <head > <"
    " a=' ' \" &amp; \0 é \ufeff <!doctype@html> <!--@<head>@--> <title> </title> <script>"
    " </script> <style> <meta@charset=x> <svg> <template> <?xml@version='1.0'?> <frameset>"
    " <plaintext> <textarea> <noscript> <![CDATA[ ]]> @ \r \n \r\n"
)
PAGES = st.lists(
    st.sampled_from([it.replace("@", " ") for it in PARTS.split(" ")]), max_size=12
).map("".join)
ENCODINGS = {
    "utf-8": "text/html; charset=utf-8",
    "latin-1": "text/html",
    "shift-jis": 'text/html; charset="Shift_JIS"',
    "utf-16-le": "text/html;charset=UTF-16",
    "utf-16-be": "text/html; charset=utf-16be",
    "iso-2022-jp": "text/html; charset=iso-2022-jp",
    "gb18030": "text/html; charset=gb18030",
}


def sent(inserter: HeadInserter, pieces: Iterable[bytes]) -> bytes:
    return b"".join([*map(inserter.feed, pieces), inserter.close()])


def inserted(page: str, encoding: str = "utf-8") -> str:
    inserter = HeadInserter(MARKUP, ENCODINGS[encoding])
    return sent(inserter, [page.encode(encoding)]).decode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<!DOCTYPE html>\n<html lang=en>\r\n<HEAD data-x='>'>", "<title>a</title>"),
        ("<html><head\r\nclass=a\r\n>", "\r\n<meta charset=utf-8></head>"),
        ("<!doctype html>", "<title>no head</title><p>a"),
        ("<html>\n", "<body class=a>"),
        ("<html>", "<frameset>"),
        ("<!-- <head> -->", " \nOnly text"),
        ("", "&amp; text"),
        ("</p>", "</body>"),
        ("<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head>", "<title/>"),
    ],
)
def test_markup_goes_where_the_head_begins(before: str, after: str, encoding: str) -> None:
    assert inserted(before + after, encoding) == before + MARKUP + after


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_byte_order_mark_stays_first_and_says_more_than_the_header(mark: bytes) -> None:
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(mark, "utf-8")
    inserter = HeadInserter(MARKUP, "text/html; charset=latin1")

    out = sent(inserter, [mark[:1], mark[1:] + "<p>ä".encode(encoding)])

    assert out == mark + f"{MARKUP}<p>ä".encode(encoding)


@pytest.mark.parametrize("page", ["", " \n", "<!doctype html>", "<!-- <p>", "<html>", "<p", "</p>"])
def test_where_there_is_no_element_nothing_is_changed(page: str) -> None:
    inserter = HeadInserter(MARKUP)

    assert sent(inserter, [page.encode()]) == page.encode()
    assert not inserter.applied


@given(PAGES.map(str.encode) | st.binary(max_size=40), st.data())
def test_other_bytes_pass_unchanged_in_any_division(page: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(page)), max_size=4)))
    kind = data.draw(st.sampled_from(list(ENCODINGS.values())))
    pieces = [page[a:b] for a, b in zip([0, *cuts], [*cuts, len(page)], strict=True)]
    full, inserter = HeadInserter(MARKUP, kind), HeadInserter(MARKUP, kind, lambda message: message)

    out = sent(inserter, pieces)

    assert out == sent(full, [page])
    written = [MARKUP.encode(it) for it in ("ascii", "utf-16-le", "utf-16-be")]
    without = [out.replace(it, b"", 1) for it in written if it in out]
    assert page in without if inserter.applied else page == out


@given(PAGES)
def test_a_browser_finds_it_first_in_the_head(page: str) -> None:
    inserter = HeadInserter("<link rel=x-here>")
    out = sent(inserter, [page.encode()]).decode("utf-8-sig")

    head = turbohtml.parse(out).find("head")
    first = next((it.tag for it in head if isinstance(it, turbohtml.Element)), "") if head else ""

    assert (first == "link") == inserter.applied


def test_a_piece_goes_on_as_soon_as_nothing_can_come_before_it() -> None:
    inserter = HeadInserter(MARKUP)

    assert inserter.feed(b"<!doctype html><html><he") == b"<!doctype html><html>"
    assert inserter.feed(b"ad><title>") == b"<head>" + MARKUP.encode() + b"<title>"
    assert inserter.feed(b"anything <head>") == b"anything <head>"


def test_a_policy_in_the_head_is_changed_and_none_after_it() -> None:
    inserter = HeadInserter("<b>", policy=lambda message: f"{message}; more 'x'")
    meta = b'<meta http-equiv="Content-Security-Policy" content="default-src \'self\'">'
    page = b"<head><script>'<body>'</script><title><p></title>" + meta + b"</head><body>" + meta

    out = sent(inserter, [page[at : at + 7] for at in range(0, len(page), 7)])

    wanted = (
        b'<meta http-equiv="Content-Security-Policy"'
        b' content="default-src &#x27;self&#x27;; more &#x27;x&#x27;">'
    )
    assert out == page.replace(b"<head>", b"<head><b>").replace(meta, wanted, 1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_no_character_of_a_policy_breaks_the_page(encoding: str) -> None:
    inserter = HeadInserter(
        "<b>", ENCODINGS[encoding], lambda message: f"{message} \u20ac \U0001f600 x"
    )
    meta = "<meta content='&#8364; &#128512;' lang http-equiv=content-security-policy>"

    out = sent(inserter, [f"<head>{meta}<p>".encode(encoding)]).decode(encoding)

    assert out.startswith("<head><b><meta content=")
    assert out.endswith("<p>")
