"""Without a network, or without HTTP/2: what Chromium shows, whatever it asks for."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error

from tests.browser.pages.broken_answers import KINDS, SITE, Visits, lane_to, routes
from tests.proxy.support.lanes import Begin, wait_until
from tests.proxy.support.origin import Answer, served, server_context
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned, RequestSeen

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = b"""<!doctype html><title>Page</title><link rel=icon href='data:,'><script>
window.seen = [];
const events = new EventSource("/events");
events.onmessage = () => seen.push("event");
events.onerror = () => seen.push("error");
</script>"""


def test_offline_resets_every_request_of_chromium(
    browser: Browser, begin: Begin, tmp_path: Path
) -> None:
    with lane_to(begin, "length", tmp_path, {"gone": {"kind": "offline", "lasts": 60}}) as lane:
        context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
        context.set_default_timeout(10_000)
        visits = Visits(context, "gone", fails=True)
        visits.all()
        context.close()
    assert visits.met == {**dict.fromkeys(KINDS, "error"), "file": "canceled"}
    # Playwright tells nothing of a download's request.
    assert visits.errors == dict.fromkeys(KINDS[:-1], "net::ERR_CONNECTION_RESET")
    asked = {it.url.rpartition("/")[2] for it in lane.events(FaultPlanned)}
    assert asked == set(KINDS)
    assert lane.events(FaultDelivered)


def test_chromium_uses_http_1_for_all_if_http_2_is_refused(
    browser: Browser, begin: Begin, tmp_path: Path
) -> None:
    ca = ensure_ca(tmp_path / "ca")
    rule = {
        "name": "old",
        "match": {"url": f"{SITE}/*"},
        "trigger": {"always": True},
        "fault": {"kind": "protocol_downgrade"},
    }
    with served(server_context(*ca.leaf("localhost", tmp_path), ["h2"])) as site:
        routes(site, "h2", {"old": {}})
        maps = (f"{SITE}=https://localhost:{site.port}",)
        for version, rules in (("HTTP/2.0", []), ("HTTP/1.1", [rule])):
            scenario = Scenario.model_validate({"name": "old", "rules": rules})
            with begin(scenario=scenario, maps=maps, insecure=True) as lane:
                context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
                context.set_default_timeout(10_000)
                visits = Visits(context, "old", fails=False)
                visits.all()
                context.close()
            assert visits.met == {**dict.fromkeys(KINDS, "load"), "script": "ran"}
            assert visits.errors == {}
            requests = [it for it in lane.events(RequestSeen) if it.url.startswith(SITE)]
            assert {it.http_version for it in requests} == {version}
            assert bool(lane.events(FaultDelivered)) is bool(rules)


def test_an_event_stream_reconnects_after_a_reset_in_chromium(
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
