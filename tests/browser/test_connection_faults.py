"""Chromium in a namespace: names without an address, connections that fail, bad certificates."""

import json
import re
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Error, sync_playwright
from pydantic import JsonValue

from tests.proxy.support.lanes import beginner
from tests.proxy.support.namespace_programs import beginner_inside, mapped
from tests.proxy.support.origin import Answer, served
from warex.proxy.certificates.ca import ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium
from warex.scenarios import Scenario
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned, TlsRejected

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FAULTS: dict[str, dict[str, JsonValue]] = {
    "refused": {"kind": "connection_refused"},
    "unanswered": {"kind": "connection_timeout"},
    "unknown": {"kind": "dns_failure", "code": "nxdomain"},
    "unresolved": {"kind": "dns_failure", "code": "servfail"},
    "silent": {"kind": "dns_failure", "code": "timeout"},
    "expired": {"kind": "tls_error", "how": "expired"},
    "misnamed": {"kind": "tls_error", "how": "wrong_host"},
    "homemade": {"kind": "tls_error", "how": "self_signed"},
    "unlisted": {"kind": "tls_error", "how": "unknown_ca"},
    "closed": {"kind": "tls_error", "how": "cut"},
}
MEANT = {
    "refused": "ERR_CONNECTION_REFUSED",
    "unanswered": "ERR_CONNECTION_TIMED_OUT",
    "unknown": "ERR_NAME_NOT_RESOLVED",
    "unresolved": "ERR_NAME_NOT_RESOLVED",
    "silent": "ERR_NAME_NOT_RESOLVED",
    "expired": "ERR_CERT_DATE_INVALID",
    "misnamed": "ERR_CERT_COMMON_NAME_INVALID",
    "homemade": "ERR_CERT_AUTHORITY_INVALID",
    "unlisted": "ERR_CERT_AUTHORITY_INVALID",
    "closed": "ERR_CONNECTION_CLOSED",
}

# Goes to each page until it comes, and says what it met first.
VISITS = """
import asyncio, json, re, sys
from playwright.async_api import Error, async_playwright

chromium, *rest = sys.argv[1:]
names, flags = json.loads(rest[0]), json.loads(rest[1])

async def visit(context, name):
    page, met = await context.new_page(), None
    while True:
        try:
            await page.goto(f"https://{name}.test/", timeout=20_000)
            return name, met, await page.title()
        except Error as error:
            met = met or re.search(r"net::(\\w+)|$", str(error))[1] or str(error)
            await page.wait_for_timeout(500)

async def main():
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=flags)
        context = await browser.new_context()
        visits = asyncio.gather(*(visit(context, name) for name in names))
        print(json.dumps(await asyncio.wait_for(visits, 60)))
        await browser.close()

asyncio.run(main())
"""


def scenario(*names: str) -> Scenario:
    return Scenario.model_validate(
        {
            "name": "unreachable",
            "rules": [
                {
                    "name": name,
                    "match": {"url": f"https://{name}.test"},
                    "trigger": {"first": 1},
                    "fault": fault,
                }
                for name, fault in FAULTS.items()
                if name in names
            ],
        }
    )


def test_each_failure_is_shown_as_what_it_is_and_heals(chromium: Path, tmp_path: Path) -> None:
    names = tuple(FAULTS)
    ca = ensure_ca(tmp_path / "ca")
    forkserver = Forkserver()
    flags = [*QUIET_FLAGS, "--no-sandbox"]
    try:
        with served() as site:
            site.routes["/"] = Answer(
                headers=[(b"Content-Type", b"text/html")], body=b"<title>The page</title>"
            )
            origins = [f"https://{name}.test" for name in names]
            maps = mapped(*origins, port=site.port)
            begin = beginner_inside(forkserver, ca, tmp_path)
            with begin(scenario=scenario(*names), maps=maps) as within:
                done = within.run(
                    sys.executable,
                    "-c",
                    VISITS,
                    chromium,
                    json.dumps(names),
                    json.dumps(flags),
                    seconds=90,
                )
    finally:
        forkserver.close()
    assert done.returncode == 0, done.stderr
    visits = {name: (met, title) for name, met, title in json.loads(done.stdout)}
    assert {name: met for name, (met, _) in visits.items()} == {name: MEANT[name] for name in names}
    assert {title for _, title in visits.values()} == {"The page"}
    lane = within.lane
    planned = {event.injection: event.rule for event in lane.events(FaultPlanned)}
    assert {event.ordinal for event in lane.events(FaultPlanned)} == {1}
    assert {planned[event.injection] for event in lane.events(FaultDelivered)} == set(names)
    # Of a second connection, which the browser gives up or which is open at the end.
    missed = {(event.rule, event.reason) for event in lane.events(FaultMissed)}
    assert {rule for rule, _ in missed} <= {"unanswered", "silent"}, missed
    assert {reason for _, reason in missed} <= {"client_gone", "trial_over"}, missed
    assert lane.events(TlsRejected) == []


def test_a_browser_that_trusts_by_the_authoritys_key_is_not_fooled_either(tmp_path: Path) -> None:
    ca = ensure_ca(tmp_path / "ca")
    forkserver = Forkserver()
    names = ("expired", "homemade", "closed")
    maps_of = [f"https://{name}.test" for name in names]
    met = {}
    try:
        with (
            served() as site,
            beginner(forkserver, ca, tmp_path)(
                scenario=scenario(*names), maps=mapped(*maps_of, port=site.port)
            ) as lane,
            sync_playwright() as playwright,
        ):
            trust = f"--ignore-certificate-errors-spki-list={ca.spki}"
            browser = playwright.chromium.launch(
                executable_path=str(find_chromium()),
                args=[*QUIET_FLAGS, "--no-sandbox", f"--proxy-server={lane.url}", trust],
            )
            for name in names:
                # In a tab of its own: the browser's own page for an error, which comes after the
                # error is told, would interrupt whatever comes next.
                with pytest.raises(Error, match=r"net::ERR_\w+") as caught:
                    browser.new_page().goto(f"https://{name}.test/")
                met[name] = re.search(r"net::(\w+)", str(caught.value))
            lane.proxy.call("POST", "/task/end")
            for name in names:
                assert browser.new_page().goto(f"https://{name}.test/") is not None
            browser.close()
    finally:
        forkserver.close()
    # It has no CA to find the certificate's signer, so it can say no more of it.
    assert {name: result and result[1] for name, result in met.items()} == {
        "expired": "ERR_CERT_AUTHORITY_INVALID",
        "homemade": "ERR_CERT_AUTHORITY_INVALID",
        "closed": "ERR_CONNECTION_CLOSED",
    }
    assert {event.rule for event in lane.events(FaultDelivered)} == set(names)
    assert lane.events(TlsRejected) == []


SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='7' height='7'><!-- %s --></svg>"
LONG = b"0123456789" * 8_000
PAGE = f"""<!doctype html><title>Shop</title><img src=/image.svg><script src=/script.js></script>
<form action=/order method=post><textarea name=note>{LONG.decode()}</textarea>
<button>Order</button></form><a href=/file download=file>File</a>"""
# Prints how much of each arrived: of the page, a script, an image, a fetch, a download and a POST.
READS = """
import asyncio, json, sys
from playwright.async_api import async_playwright

chromium, *rest = sys.argv[1:]
names, flags = json.loads(rest[0]), json.loads(rest[1])

async def read(context, name):
    page = await context.new_page()
    response = await page.goto(f"http://{name}.test/", wait_until="load")
    sizes = [len(await response.body()), *await page.evaluate(
        "async () => [window.ran, document.images[0].naturalWidth,"
        " (await (await fetch('/fetch')).text()).length]"
    )]
    async with page.expect_download() as coming:
        await page.click("a")
    path = await (await coming.value).path()
    sizes.append(path.stat().st_size)
    await page.click("button")
    await page.wait_for_url("**/order")
    return sizes

async def main():
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=flags)
        context = await browser.new_context()
        reads = asyncio.gather(*(read(context, name) for name in names))
        print(json.dumps(await asyncio.wait_for(reads, 60)))
        await browser.close()

asyncio.run(main())
"""


def test_lost_and_reordered_packets_still_arrive(chromium: Path, tmp_path: Path) -> None:
    kinds = {"lost": "packet_loss", "reordered": "packet_reorder"}
    rules = [
        {
            "name": name,
            "match": {"url": f"http://{name}.test"},
            "trigger": {"always": True},
            "fault": {"kind": kind, "share": 0.1},
        }
        for name, kind in kinds.items()
    ]
    wanted = Scenario.model_validate({"name": "packets", "rules": rules})
    ca = ensure_ca(tmp_path / "ca")
    forkserver = Forkserver()
    try:
        with served() as site:
            for path, media_type, body in (
                ("/", b"text/html", PAGE.encode()),
                ("/script.js", b"text/javascript", b"window.ran = 1;" + b" " * len(LONG)),
                ("/image.svg", b"image/svg+xml", SVG % LONG),
                ("/fetch", b"text/plain", LONG),
                ("/file", b"application/octet-stream", LONG),
                ("/order", b"text/html", b"<title>Ordered</title>"),
            ):
                site.routes[path] = Answer(headers=[(b"Content-Type", media_type)], body=body)
            maps = mapped(*(f"http://{name}.test" for name in kinds), port=site.port)
            begin = beginner_inside(forkserver, ca, tmp_path)
            flags = [*QUIET_FLAGS, "--no-sandbox"]
            with begin(scenario=wanted, maps=maps) as within:
                program = (sys.executable, "-c", READS, chromium)
                done = within.run(*program, json.dumps([*kinds]), json.dumps(flags), seconds=90)
            orders = [request for request in site.seen if request.target == "/order"]
    finally:
        forkserver.close()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[len(PAGE), 1, 7, len(LONG), len(LONG)]] * 2
    assert [len(order.body) for order in orders] == [len(LONG) + len("note=")] * 2
    lane = within.lane
    rule_of = {event.injection: event.rule for event in lane.events(FaultPlanned)}
    assert {rule_of[event.injection] for event in lane.events(FaultDelivered)} == {*kinds}
