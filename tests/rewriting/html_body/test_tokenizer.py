import pytest

from warex.rewriting.html_body.tokenizer import HtmlStream


@pytest.mark.parametrize("wide", [False, True])
def test_a_token_has_its_position(wide: bool) -> None:
    page = "<p>\r\n\r<b\r\nid=a>x"
    document = HtmlStream("text/html; charset=utf-16le" if wide else "text/html")
    body = page.encode("utf-16-le" if wide else "utf-8")
    tokens = [it for at in range(len(body)) for it in document.feed(body[at : at + 1])]
    tags = [(start, end) for token, start, end in tokens if token.tag]

    assert [page[start:end] for start, end in tags] == ["<p>", "<b\r\nid=a>"]
    assert document.until(6) + document.rest() == body


def test_a_byte_order_mark_is_not_a_character() -> None:
    document = HtmlStream("text/html")
    list(document.feed(b"\xef\xbb\xbfa<p>"))

    assert document.between(0, document.characters) == "a<p>"
    assert document.until(1) == b"\xef\xbb\xbfa"
    assert document.encoded("b") == b"b"
