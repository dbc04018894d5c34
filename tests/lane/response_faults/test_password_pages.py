import gzip

import pytest

from warex.engine.http.heads import Headers, ResponseHead
from warex.lane.response_faults.password_pages import page_reader, read_held_page
from warex.lane.whole_response import WholeResponse
from warex.traces.redaction.redactor import Redactor

BODY = gzip.compress(b"<form><input type=password name=f2></form>")


def head(kind: str) -> ResponseHead:
    fields = ((b"content-type", kind.encode()), (b"content-encoding", b"gzip"))
    return ResponseHead(401, b"", "HTTP/1.1", Headers(fields))


def test_a_page_shows_its_fields_for_passwords_and_passes_unchanged() -> None:
    redactor = Redactor()
    reader = page_reader(head("text/html; charset=utf-8"), redactor)

    assert reader is not None
    assert b"".join(reader.feed(BODY)) + reader.close() == BODY
    assert set(redactor.how.fields) == {"f2"}


@pytest.mark.parametrize(("kind", "fields"), [("text/html", {"f2"}), ("text/plain", set())])
def test_a_page_that_is_held_is_read(kind: str, fields: set[str]) -> None:
    redactor = Redactor()
    read_held_page(WholeResponse(head(kind), BODY), redactor)

    assert set(redactor.how.fields) == fields
