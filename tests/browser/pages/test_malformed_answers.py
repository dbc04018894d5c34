"""What Chromium makes of answers that break the rules of HTTP, whatever it asks for."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.pages.broken_answers import KINDS, Visits, lane_to
from tests.proxy.support.lanes import Begin
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FAULTS: dict[str, dict[str, Any]] = {
    **{
        defect: {"kind": "malformed_response", "defect": defect}
        for defect in ("status_line", "header", "two_lengths", "length", "chunk", "frame")
    },
    **{
        coding: {"kind": "malformed_response", "defect": "coding", "coding": coding}
        for coding in ("gzip", "br", "zstd")
    },
}
CODINGS = dict.fromkeys(("gzip", "br", "zstd"), "net::ERR_CONTENT_DECODING_FAILED")
REPORTED = {
    "length": {
        "status_line": "net::ERR_INVALID_HTTP_RESPONSE",
        "two_lengths": "net::ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH",
        "length": "net::ERR_CONTENT_LENGTH_MISMATCH",
        "chunk": "net::ERR_INVALID_CHUNKED_ENCODING",
        **CODINGS,
    },
    "h2": {
        "status_line": "net::ERR_HTTP2_PROTOCOL_ERROR",
        "chunk": "net::ERR_HTTP2_PROTOCOL_ERROR",
        "frame": "net::ERR_HTTP2_FRAME_SIZE_ERROR",
        **CODINGS,
    },
}
"""The error of a request, by the version of HTTP; what has none loads."""
UNHIT = {"length": ["frame"], "h2": ["header", "length", "two_lengths"]}


@pytest.mark.parametrize("framing", list(REPORTED))
def test_each_defect_is_the_error_that_the_reference_says(
    browser: Browser, begin: Begin, tmp_path: Path, framing: str
) -> None:
    met: dict[str, dict[str, str]] = {}
    errors: dict[str, dict[str, str | None]] = {}
    with lane_to(begin, framing, tmp_path, FAULTS) as lane:
        context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
        context.set_default_timeout(30_000)
        for fault in FAULTS:
            visits = Visits(context, fault, fails=fault in REPORTED[framing])
            visits.all()
            met[fault], errors[fault] = visits.met, visits.errors
        context.close()
    loads = {**dict.fromkeys(KINDS, "load"), "script": "ran"}
    fails = {**dict.fromkeys(KINDS, "error"), "file": "canceled"}
    for fault in FAULTS:
        error = REPORTED[framing].get(fault)
        if error:  # How much of a page stands there depends on when its connection ends.
            met[fault] |= {"document": "error", "form": "error"}
        assert met[fault] == (fails if error else loads), fault
        # Playwright tells nothing of a download's request.
        assert errors[fault] == (dict.fromkeys(KINDS[:-1], error) if error else {}), fault
    missed, planned = lane.events(FaultMissed), lane.events(FaultPlanned)
    unhit = {it.rule for it in missed if it.reason == "nothing_to_rewrite"}
    assert sorted(unhit) == UNHIT[framing]
    # On HTTP/2 a broken frame takes along what else is on its connection.
    left = {it.rule for it in missed} - unhit
    assert left <= ({"chunk", "frame"} if framing == "h2" else set())
    asked = {(it.rule, it.url.rpartition("/")[2]) for it in planned}
    assert asked == {(fault, kind) for fault in FAULTS for kind in KINDS}
    assert len(lane.events(FaultDelivered)) + len(missed) == len(planned)
