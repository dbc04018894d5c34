"""Pages that come late, slowly, in part or not to their end, as real Chromium shows them."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright
from pydantic import JsonValue

from tests.proxy.support.lanes import beginner, wait_until
from tests.proxy.support.origin import Answer, served
from warex.proxy.certificates.ca import ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import QUIET_FLAGS
from warex.scenarios import Scenario
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = Answer(
    headers=[(b"Content-Type", b"text/html")],
    body=b"<!doctype html><title>The page</title><link rel=icon href='data:,'><p id=begin>begin"
    + b" and so on" * 400
    + b"<p id=end>end",
)
FAULTS: dict[str, dict[str, JsonValue]] = {
    "truncated": {"kind": "truncated_body"},
    "silent": {"kind": "stalled_body", "then": "never"},
    "slow": {"kind": "slow_body", "pieces": 3, "pause": 0.05},
    "line": {"kind": "bandwidth", "down": 40_000},
    "late": {"kind": "latency", "delay": 0.1},
    "cut": {"kind": "connection_cut", "after_bytes": 300},
    "malformed": {"kind": "malformed_response", "defect": "chunk"},
}
MET = {
    "truncated": (False, "net::ERR_CONTENT_LENGTH_MISMATCH"),
    "silent": (False, None),
    "slow": (True, None),
    "line": (True, None),
    "late": (True, None),
    "cut": (False, "net::ERR_CONNECTION_RESET"),
    "malformed": (False, "net::ERR_INVALID_CHUNKED_ENCODING"),
}
"""Whether the page's end is there, and the error of its request."""


def _has_failed(page: Page, errors: Mapping[str, str | None], name: str) -> bool:
    page.evaluate("1")  # Playwright tells of events while it is asked for something.
    return errors[name] is not None


@pytest.fixture(scope="module")
def forkserver() -> Iterator[Forkserver]:
    server = Forkserver()
    yield server
    server.close()


def test_a_page_is_there_as_far_as_it_came(
    chromium: Path, forkserver: Forkserver, tmp_path: Path
) -> None:
    rules = [
        {"name": name, "match": {"url": f"*/{name}"}, "trigger": {"always": True}, "fault": fault}
        for name, fault in FAULTS.items()
    ]
    scenario = Scenario.model_validate({"name": "partial", "rules": rules})
    begin = beginner(forkserver, ensure_ca(tmp_path / "ca"), tmp_path)
    with served() as site, sync_playwright() as playwright:
        site.routes |= {f"/{name}": PAGE for name in FAULTS}
        maps = (f"https://shop.example=http://127.0.0.1:{site.port}",)
        with begin(scenario=scenario, maps=maps) as lane:
            browser = playwright.chromium.launch(
                executable_path=chromium,
                proxy={"server": lane.url},
                args=[*QUIET_FLAGS, "--disable-quic", "--no-sandbox"],
            )
            context = browser.new_context(ignore_https_errors=True)
            pages = {name: context.new_page() for name in FAULTS}
            errors: dict[str, str | None] = dict.fromkeys(FAULTS)
            context.on(
                "requestfailed", lambda it: errors.update({it.url.rpartition("/")[2]: it.failure})
            )
            for name, page in pages.items():
                page.goto(f"https://shop.example/{name}", wait_until="commit")
            for name, page in pages.items():
                ends, error = MET[name]
                if error is None:
                    page.locator("#end" if ends else "#begin").wait_for()
                else:  # What ends at once may stand there empty.
                    wait_until(partial(_has_failed, page, errors, name))
            wait_until(lambda: len(lane.events(FaultDelivered)) == len(FAULTS))
            met = {
                name: (bool(page.locator("#end").count()), errors[name])
                for name, page in pages.items()
            }
            browser.close()
    assert met == MET
    assert not lane.events(FaultMissed)
    assert {it.rule for it in lane.events(FaultPlanned)} == FAULTS.keys()
