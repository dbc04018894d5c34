"""Shows the trial's redactor the pages that pass, which say what fields are for passwords."""

from mitmproxy import http

from warex.proxy.exchange.state import ExchangeState
from warex.proxy.net.encoding import StreamDecoder
from warex.proxy.response_faults.site_looks import BeginningReader
from warex.rewriting.base import HTML_TYPES
from warex.traces.redaction.redactor import Redactor


def watch_page(flow: http.HTTPFlow, state: ExchangeState, redactor: Redactor) -> None:
    """Read the beginning of a page while it is streamed."""
    reader = None if state.pending else _reader(flow, state, redactor)
    if reader is not None:
        state.rewriters.append(reader)


def read_held_page(flow: http.HTTPFlow, state: ExchangeState, redactor: Redactor) -> None:
    """Read the beginning of a page that is held complete."""
    reader = _reader(flow, state, redactor)
    if reader is not None and flow.response is not None:
        for _ in reader.feed(flow.response.raw_content or b""):
            pass
        reader.close()


def _reader(
    flow: http.HTTPFlow, state: ExchangeState, redactor: Redactor
) -> BeginningReader | None:
    response = flow.response
    if response is None or state.is_agent_request or state.by_warex:
        return None
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    coding = response.headers.get("content-encoding", "")
    if kind not in HTML_TYPES or not StreamDecoder.reads(coding):
        return None
    return BeginningReader(coding, redactor.learn_page)
