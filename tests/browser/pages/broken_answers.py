"""A site of everything that a browser asks for, and visits that tell what came of it."""

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

from playwright.sync_api import BrowserContext, Error, Page, Request

from tests.proxy.support.lanes import Begin, Lane, wait_until
from tests.proxy.support.origin import Answer, Origin, served, server_context
from warex.exchange import Resource
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario

type Faults = Mapping[str, Mapping[str, Any]]
"""The faults of a scenario, by the names of their rules."""

SITE = "https://shop.example"
KINDS = ("document", "form", "script", "image", "fetch", "file")
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


def scenario(faults: Faults) -> Scenario:
    match = {"resource": get_args(Resource.__value__)}
    rules = [
        {
            "name": name,
            "match": {**match, "url": f"*/{name}/*"},
            "trigger": {"always": True},
            "fault": fault,
        }
        for name, fault in faults.items()
    ]
    return Scenario.model_validate({"name": "partial", "rules": rules})


@contextmanager
def lane_to(begin: Begin, framing: str, folder: Path, faults: Faults) -> Iterator[Lane]:
    """A lane with the faults before a site of the framing: length, chunks or h2."""
    ca = ensure_ca(folder / "ca")
    tls = server_context(*ca.leaf("localhost", folder), ["h2"]) if framing == "h2" else None
    with served(tls) as site:
        routes(site, framing, faults)
        scheme, host = ("https", "localhost") if framing == "h2" else ("http", "127.0.0.1")
        maps = (f"{SITE}={scheme}://{host}:{site.port}",)
        with begin(scenario=scenario(faults), maps=maps, insecure=True) as lane:
            yield lane


def routes(site: Origin, framing: str, faults: Faults) -> None:
    site.routes["/"] = Answer(headers=[(b"Content-Type", b"text/html")], body=START.encode())
    for name in faults:
        site.routes |= {f"/{name}/{kind}": answer(kind, framing) for kind in KINDS}


class Visits:
    """Asks for everything under one fault, and tells what came and which requests failed."""

    def __init__(self, context: BrowserContext, fault: str, *, fails: bool) -> None:
        """``fails``: whether each request is reported as failed."""
        self._context, self._fault, self._fails = context, fault, fails
        self.errors: dict[str, str | None] = {}
        self.met: dict[str, str] = {}

    def _page(self) -> Page:
        page = self._context.new_page()
        page.on("requestfailed", self._failed)
        return page

    def _failed(self, request: Request) -> None:
        self.errors.setdefault(request.url.rpartition("/")[2], request.failure)

    def _shown(self, page: Page, kind: str) -> None:
        if self._fails:
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
