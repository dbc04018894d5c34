"""What Chromium makes of slow, silent and partial answers, whatever it asks for."""

import json
import shutil
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Request
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.proxy.support.lanes import Begin, Lane, wait_until
from tests.proxy.support.origin import Answer, Origin, served, server_context
from warex.exchange import Resource
from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium
from warex.scenarios import Scenario
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SITE = "https://shop.example"
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
WHOLE = ("pause", "slow", "line", "late")
KINDS = ("document", "form", "script", "image", "fetch", "file")
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
ICON = "<link rel=icon href='data:,'>"
START = f"""<!doctype html><title>Start</title>{ICON}
<form id=form method=post><input name=a value=1><button>Send</button></form>
<a id=file download>File</a>
<script>async function ask(fault) {{
    const add = (tag, name) => new Promise((done) => {{
        const it = document.createElement(tag);
        it.onload = () => done("load");
        it.onerror = () => done("error");
        it.src = `/${{fault}}/${{name}}`;
        document.body.append(it);
    }});
    const read = fetch(`/${{fault}}/fetch`).then((it) => it.json())
        .then(() => "load", () => "error");
    const [script, image, data] = await Promise.all(
        [add("script", "script"), add("img", "image"), read]);
    return {{script: script === "load" && window.ran ? "ran" : script, image, fetch: data}};
}}</script>"""
PAGE = f"<!doctype html><title>Page</title>{ICON}<p id=begin>begin<p>{'and so on ' * 400}<p id=end>"


def picture() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + bytes((x * y) % 251 for x in range(192)) for y in range(64))
    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


BODIES = {
    "document": ("text/html", PAGE.encode()),
    "form": ("text/html", PAGE.encode()),
    "script": ("text/javascript", b"/*" + b" " * 4000 + b"*/ window.ran = true;"),
    "image": ("image/png", picture()),
    "fetch": ("application/json", json.dumps({"a": "a" * 4000}).encode()),
    "file": ("application/octet-stream", bytes(range(256)) * 40),
}


def answer(kind: str, framing: str) -> Answer:
    media, body = BODIES[kind]
    headers = [(b"Content-Type", media.encode())]
    if framing != "chunks":
        return Answer(headers=headers, body=body)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
    raw = head % media.encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    return Answer(raw=raw)


def scenario() -> Scenario:
    match = {"resource": get_args(Resource.__value__)}
    rules = [
        {
            "name": name,
            "match": {**match, "url": f"*/{name}/*"},
            "trigger": {"always": True},
            "fault": fault,
        }
        for name, fault in FAULTS.items()
    ]
    return Scenario.model_validate({"name": "partial", "rules": rules})


@contextmanager
def lane_to(begin: Begin, framing: str, folder: Path) -> Iterator[Lane]:
    """A lane before a site of the framing."""
    ca = ensure_ca(folder / "ca")
    tls = server_context(*ca.leaf("localhost", folder), ["h2"]) if framing == "h2" else None
    with served(tls) as site:
        routes(site, framing)
        scheme, host = ("https", "localhost") if framing == "h2" else ("http", "127.0.0.1")
        maps = (f"{SITE}={scheme}://{host}:{site.port}",)
        with begin(scenario=scenario(), maps=maps, insecure=True) as lane:
            yield lane


def routes(site: Origin, framing: str) -> None:
    site.routes["/"] = Answer(headers=[(b"Content-Type", b"text/html")], body=START.encode())
    for name in FAULTS:
        site.routes |= {f"/{name}/{kind}": answer(kind, framing) for kind in KINDS}


class Visits:
    """Asks for everything under one fault, and tells what came and which requests failed."""

    def __init__(self, context: BrowserContext, fault: str) -> None:
        self._context, self._fault = context, fault
        self.errors: dict[str, str | None] = {}
        self.met: dict[str, str] = {}

    def _page(self) -> Page:
        page = self._context.new_page()
        page.on("requestfailed", self._failed)
        return page

    def _failed(self, request: Request) -> None:
        self.errors.setdefault(request.url.rpartition("/")[2], request.failure)

    def _shown(self, page: Page, kind: str) -> None:
        is_cut = self._fault not in (*WHOLE, "clean")
        if is_cut:
            wait_until(lambda: page.evaluate("1") and kind in self.errors)
        else:
            page.wait_for_load_state()
        ends = page.locator("#end").count()
        self.met[kind] = "load" if ends else "error"

    def all(self) -> None:
        page = self._page()
        try:
            page.goto(f"{SITE}/{self._fault}/document", wait_until="commit")
            self._shown(page, "document")
        except Error:
            self.met["document"] = "error"
        page.close()
        page = self._page()
        page.goto(f"{SITE}/")
        self.met |= page.evaluate(f"ask({json.dumps(self._fault)})")
        page.evaluate(f"document.querySelector('#file').href = '/{self._fault}/file'")
        with page.expect_download() as download:
            page.locator("#file").click()
        self.met["file"] = download.value.failure() or "load"
        if self.met["file"] == "load":
            size = Path(download.value.path()).stat().st_size
            self.met["file"] = "load" if size == len(BODIES["file"][1]) else "error"
        page.evaluate(f"document.querySelector('#form').action = '/{self._fault}/form'")
        try:
            with page.expect_navigation(wait_until="commit"):
                page.locator("button").click()
            self._shown(page, "form")
        except Error:
            self.met["form"] = "error"
        page.close()


@pytest.mark.parametrize("framing", list(PLAYED))
def test_each_request_is_met_as_its_fault_says(
    browser: Browser, begin: Begin, tmp_path: Path, framing: str
) -> None:
    with lane_to(begin, framing, tmp_path) as lane:
        context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
        context.set_default_timeout(10_000)
        for fault in PLAYED[framing]:
            visits = Visits(context, fault)
            visits.all()
            error = REPORTED[framing].get(fault)
            expected = dict.fromkeys(KINDS, "load" if fault in WHOLE else "error")
            expected["script"] = "ran" if fault in WHOLE else "error"
            if fault == "clean":  # What a browser takes for whole: no script ran, no data was read.
                expected |= {"script": "load", "image": "load"}
            elif fault not in WHOLE:
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


def test_selenium_meets_the_same(begin: Begin, tmp_path: Path) -> None:
    chromedriver = shutil.which("chromedriver")
    assert chromedriver, "install chromium-driver"
    met: dict[str, str] = {}
    with lane_to(begin, "length", tmp_path) as lane:
        options = webdriver.ChromeOptions()
        options.binary_location = str(find_chromium())
        options.accept_insecure_certs = True
        for argument in (*QUIET_FLAGS, "--headless=new", "--no-sandbox", "--disable-quic"):
            options.add_argument(argument)
        options.add_argument(f"--proxy-server={lane.url}")
        driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        try:
            for fault in ("close", "head", "clean", "slow"):
                driver.get(f"{SITE}/{fault}/document")
                parts = [bool(driver.find_elements("id", part)) for part in ("begin", "end")]
                met[fault] = "whole" if parts[1] else "part" if parts[0] else driver.page_source
            wait_until(partial(_has_delivered, lane, 4))
        finally:
            driver.quit()
    # It shows Chromium's own error page, and raises nothing.
    assert "ERR_RESPONSE_HEADERS_TRUNCATED" in met.pop("head")
    assert met == {"close": "part", "clean": "part", "slow": "whole"}


def _has_delivered(lane: Lane, count: int) -> bool:
    return len(lane.events(FaultDelivered)) >= count
