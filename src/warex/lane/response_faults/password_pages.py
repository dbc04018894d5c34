"""Shows the trial's redactor the pages that pass, which say what fields are for passwords."""

from typing import Final

from warex.engine.http.encoding import StreamDecoder
from warex.engine.http.heads import ResponseHead
from warex.lane.response_faults.stream_rewriter import BeginningReader
from warex.rewriting.base import HTML_TYPES
from warex.traces.redaction.redactor import Redactor

_MAX_PAGE: Final = 512 * 1024
"""Bytes of a page that are read."""


def page_reader(head: ResponseHead, redactor: Redactor) -> BeginningReader | None:
    """Return a reader of a site's page while it is streamed; None for other responses."""
    kind = head.headers.get("content-type").partition(";")[0].strip().lower()
    coding = head.headers.get("content-encoding")
    if kind not in HTML_TYPES or not StreamDecoder.reads(coding):
        return None
    return BeginningReader(coding, _MAX_PAGE, redactor.learn_page)


def read_page(head: ResponseHead, body: bytes, redactor: Redactor) -> None:
    """Read a complete page of a site."""
    reader = page_reader(head, redactor)
    if reader is not None:
        reader.read(body)
        reader.close()
