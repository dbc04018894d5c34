"""Shows the trial's redactor the pages that pass, which say what fields are for passwords."""

from warex.engine.http.encoding import StreamDecoder
from warex.engine.http.heads import ResponseHead
from warex.lane.response_faults.site_looks import TopReader
from warex.lane.whole_response import WholeResponse
from warex.rewriting.base import HTML_TYPES
from warex.traces.redaction.redactor import Redactor


def page_reader(head: ResponseHead, redactor: Redactor) -> TopReader | None:
    """Return a reader of the beginning of a page; None for other responses."""
    kind = head.headers.get("content-type").partition(";")[0].strip().lower()
    coding = head.headers.get("content-encoding")
    if kind not in HTML_TYPES or not StreamDecoder.reads(coding):
        return None
    return TopReader(coding, redactor.learn_page)


def read_held_page(response: WholeResponse, redactor: Redactor) -> None:
    """Read the beginning of a page that is held complete."""
    reader = page_reader(response.head, redactor)
    if reader is not None:
        reader.read(response.body)
        reader.close()
