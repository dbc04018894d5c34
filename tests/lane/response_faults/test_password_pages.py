import gzip

import pytest

from warex.engine.http.heads import Headers, ResponseHead
from warex.lane.response_faults.password_pages import page_reader, read_page
from warex.traces.redaction.redactor import Redactor

PAGE = gzip.compress(b"<form><input type=password name=f2></form>")


def fields(kind: str, *, pending: bool) -> set[str]:
    """Return the fields that a redactor knows after it was shown a compressed answer."""
    head = ResponseHead(
        401,
        b"",
        "HTTP/1.1",
        Headers([(b"Content-Type", kind.encode()), (b"content-encoding", b"gzip")]),
    )
    redactor = Redactor()
    if pending:
        read_page(head, PAGE, redactor)
    elif (reader := page_reader(head, redactor)) is not None:
        assert b"".join(reader.feed(PAGE)) == PAGE
        assert reader.close() == b""
    return set(redactor.how.fields)


@pytest.mark.parametrize("pending", [False, True])
def test_a_page_shows_its_fields_for_passwords_and_passes_unchanged(pending: bool) -> None:
    assert fields("text/html; charset=utf-8", pending=pending) == {"f2"}


@pytest.mark.parametrize("pending", [False, True])
def test_what_is_not_a_page_is_not_read(pending: bool) -> None:
    assert fields("application/json", pending=pending) == set()
