"""What Chromium makes of slow, silent and partial answers, whatever it asks for."""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.browser.pages.broken_answers import KINDS, SITE, Visits, lane_to
from tests.proxy.support.lanes import Begin, Lane, wait_until
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FAULTS: dict[str, dict[str, Any]] = {
    "close": {"kind": "truncated_body"},
    "reset": {"kind": "truncated_body", "how": "reset"},
    "clean": {"kind": "truncated_body", "how": "clean"},
    "silent": {"kind": "stalled_body", "stall": 0.2, "then": "close"},
    "head": {"kind": "connection_cut", "how": "close", "after_bytes": 20, "part": "head"},
    "pause": {"kind": "stalled_body", "stall": 0.2},
    "slow": {"kind": "slow_body", "pieces": 4, "pause": 0.02},
    "line": {"kind": "bandwidth", "down": 100_000},
    "late": {"kind": "latency", "delay": 0.1, "distribution": "lognormal"},
}
COMPLETE = ("pause", "slow", "line", "late")
REPORTED = {
    "length": {
        "close": "net::ERR_CONTENT_LENGTH_MISMATCH",
        "silent": "net::ERR_CONTENT_LENGTH_MISMATCH",
        "reset": "net::ERR_CONNECTION_RESET",
        "head": "net::ERR_RESPONSE_HEADERS_TRUNCATED",
    },
    "chunks": {"close": "net::ERR_INCOMPLETE_CHUNKED_ENCODING"},
    "h2": {
        "close": "net::ERR_HTTP2_PROTOCOL_ERROR",
        "reset": "net::ERR_CONNECTION_RESET",
        "head": "net::ERR_HTTP2_PROTOCOL_ERROR",
    },
}
"""The error of a request, by the site's framing; what has none passes."""
PLAYED = {"length": tuple(FAULTS), "chunks": ("close",), "h2": ("close", "reset", "head", "pause")}


@pytest.mark.parametrize("framing", list(PLAYED))
def test_each_request_gets_its_faults_partial_answer(
    browser: Browser, begin: Begin, tmp_path: Path, framing: str
) -> None:
    with lane_to(begin, framing, tmp_path, FAULTS) as lane:
        context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
        context.set_default_timeout(30_000)
        for fault in PLAYED[framing]:
            visits = Visits(context, fault, fails=fault not in (*COMPLETE, "clean"))
            visits.all()
            error = REPORTED[framing].get(fault)
            expected = dict.fromkeys(KINDS, "load" if fault in COMPLETE else "error")
            expected["script"] = "ran" if fault in COMPLETE else "error"
            if fault == "clean":  # What a browser takes for whole: no script ran, no data was read.
                expected |= {"script": "load", "image": "load"}
            elif fault not in COMPLETE:
                expected["file"] = "canceled"
            assert visits.met == expected, fault
            # Playwright tells nothing of a download's request.
            asked = dict.fromkeys(KINDS[:-1], error) if error else {}
            assert visits.errors == asked, fault
        context.close()
    missed = [(it.rule, it.reason) for it in lane.events(FaultMissed)]
    # On HTTP/2 a reset takes along what else is on its connection.
    assert [it for it in missed if framing != "h2" or it[0] != "reset"] == []
    planned = {(it.rule, it.url.rpartition("/")[2]) for it in lane.events(FaultPlanned)}
    assert planned == {(fault, kind) for fault in PLAYED[framing] for kind in KINDS}
    assert len(lane.events(FaultDelivered)) + len(missed) == len(lane.events(FaultPlanned))


def test_selenium_gets_the_same_partial_answers(begin: Begin, tmp_path: Path) -> None:
    chromedriver = shutil.which("chromedriver")
    assert chromedriver, "install chromium-driver"
    errors = {
        "head": "ERR_RESPONSE_HEADERS_TRUNCATED",
        "malformed": "ERR_INVALID_HTTP_RESPONSE",
    }
    faults = {**FAULTS, "malformed": {"kind": "malformed_response"}}
    ends: dict[str, bool] = {}
    with lane_to(begin, "length", tmp_path, faults) as lane:
        options = webdriver.ChromeOptions()
        options.binary_location = str(find_chromium())
        options.accept_insecure_certs = True
        for argument in (*QUIET_FLAGS, "--headless=new", "--no-sandbox", "--disable-quic"):
            options.add_argument(argument)
        options.add_argument(f"--proxy-server={lane.url}")
        driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        try:
            # It raises nothing, and shows Chromium's own error page where no page has begun.
            for fault in ("close", "head", "malformed", "clean", "slow"):
                driver.get(f"{SITE}/{fault}/document")
                ends[fault] = bool(driver.find_elements("id", "end"))
                if fault in errors:
                    assert errors[fault] in driver.page_source
            wait_until(partial(_has_delivered, lane, 5))
        finally:
            driver.quit()
    assert [fault for fault, is_there in ends.items() if is_there] == ["slow"]


def _has_delivered(lane: Lane, count: int) -> bool:
    return len(lane.events(FaultDelivered)) >= count
