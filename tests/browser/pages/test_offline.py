"""Without a network: which error Chromium shows, and what of an open page ends."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error

from tests.proxy.support.lanes import Begin, wait_until
from tests.proxy.support.origin import Answer, served, server_context
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.traces import FaultDelivered, FaultMissed

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SITE = "https://shop.example"
PAGE = b"""<!doctype html><title>Page</title><link rel=icon href='data:,'><script>
window.seen = [];
const events = new EventSource("/events");
events.onmessage = () => seen.push("event");
events.onerror = () => seen.push("error");
</script>"""


def test_chromium_shows_a_reset_and_a_page_gets_its_events_again_afterwards(
    browser: Browser, begin: Begin, tmp_path: Path
) -> None:
    fault = {"kind": "offline", "lasts": 2}
    rule = {"name": "offline", "match": {"url": "*"}, "trigger": {"nth": [3]}, "fault": fault}
    scenario = Scenario.model_validate({"name": "offline", "rules": [rule]})
    ca = ensure_ca(tmp_path / "ca")
    failed: list[tuple[str, str | None]] = []

    async def events(seen: Any, reader: Any, writer: Any) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked"
        writer.write(head + b"\r\n\r\n9\r\ndata: 1\n\n\r\n")
        await reader.read()

    with served(server_context(*ca.leaf("localhost", tmp_path), ["http/1.1"])) as site:
        site.routes |= {
            "/page": Answer(headers=[(b"Content-Type", b"text/html")], body=PAGE),
            "/events": events,
            "/data": Answer(headers=[(b"Content-Type", b"application/json")], body=b"{}"),
        }
        maps = (f"{SITE}=https://localhost:{site.port}",)
        with begin(scenario=scenario, maps=maps, insecure=True) as lane:
            context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
            page = context.new_page()
            context.on("requestfailed", lambda it: failed.append((it.url, it.failure)))
            page.goto(f"{SITE}/page")
            page.wait_for_function("seen.length")
            read = "fetch('/data').then((it) => it.status, (error) => error.name)"
            assert page.evaluate(read) == "TypeError"
            page.wait_for_function("seen.includes('error')")
            other = context.new_page()
            with pytest.raises(Error, match="ERR_CONNECTION_RESET"):
                other.goto(f"{SITE}/page")
            assert page.evaluate("navigator.onLine")
            wait_until(lambda: page.evaluate(read) == 200)
            page.wait_for_function("seen.at(-1) === 'event'")
            context.close()
    assert {error for _, error in failed} == {"net::ERR_CONNECTION_RESET"}
    assert {url for url, _ in failed} == {f"{SITE}/{it}" for it in ("data", "events", "page")}
    assert lane.events(FaultDelivered)
    assert not lane.events(FaultMissed)
