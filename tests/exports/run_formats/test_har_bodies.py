"""Recorded bodies are in the archive, so that it can be replayed and scored by other programs."""

import base64
import gzip
import json
import ssl
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import warex
from tests.analysis.builders import SHOP, Story
from tests.exports.conftest import Program
from tests.exports.run_formats.har_schema import HAR
from warex.cli import main
from warex.exports.run_formats import har as har_module
from warex.exports.run_formats.har import har
from warex.traces.blobs import BlobStore, reference
from warex.traces.event_parts import Timings
from warex.traces.events import RequestSeen, ResponseSeen
from warex.traces.paths import TrialKey
from warex.traces.reader import read_trace

KEY = TrialKey("testbed", "a", "c", "t")


def entry(folder: Path, sent: str, received: str) -> dict[str, Any]:
    """Return the entry of an exchange whose bodies have these references."""
    kind = [("Content-Type", "application/json")]
    request = RequestSeen(
        exchange="x1",
        method="POST",
        url=SHOP,
        resource="xhr",
        http_version="HTTP/2",
        connection="c1",
        headers=kind,
        size=12,
        body_blob=sent,
    )
    answer = ResponseSeen(
        exchange="x1",
        status=200,
        resource="xhr",
        by="site",
        headers=kind,
        size=7,
        body_blob=received,
        timings=Timings(total=0.1),
    )
    path = Story().add(request).add(answer).write(folder / "events.jsonl")
    archive = har(read_trace(path, lean=True), KEY, BlobStore(folder / "blobs"))
    jsonschema.validate(archive, HAR)
    (result,) = archive["log"]["entries"]
    read: dict[str, Any] = result
    return read


def test_recorded_bodies_are_in_the_entry(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path / "blobs")
    made = entry(tmp_path, blobs.put(b'{"a": 1}'), blobs.put(b"\xff\x00"))

    assert made["request"]["postData"] == {"mimeType": "application/json", "text": '{"a": 1}'}
    content = made["response"]["content"]
    assert (content["text"], content["encoding"]) == (
        base64.b64encode(b"\xff\x00").decode(),
        "base64",
    )
    assert (content["size"], made["response"]["bodySize"]) == (2, 7)


def test_a_body_that_does_not_exist_has_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = BlobStore(tmp_path / "blobs")
    monkeypatch.setattr(har_module, "_MOST_BODIES", 4)
    made = entry(tmp_path, "", blobs.put(b"12345"))
    missing = entry(tmp_path / "gone", "sha256/../../secret", reference(b"gone"))

    assert "not recorded" in made["request"]["comment"]
    assert "left out" in made["response"]["content"]["comment"]
    assert "missing" in missing["request"]["comment"]
    assert "missing" in missing["response"]["content"]["comment"]
    assert "text" not in missing["response"]["content"]


# --- recorded by a proxy -------------------------------------------------------------------------

PAGE = b"""<!doctype html><title>Shop</title><link rel=stylesheet href=/shop.css>
<p id=price>loading</p><img src=/dot.gif><script src=/shop.js></script>"""
FILES = {
    "/": ("text/html; charset=utf-8", PAGE),
    "/shop.css": ("text/css", b"#price { color: rgb(1, 2, 3) }"),
    "/shop.js": ("text/javascript", b"price.textContent = '12 \xe2\x82\xac'"),
    "/dot.gif": (
        "image/gif",
        base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    ),
    "/sv/125342.json": ("application/json", b'{"netScore": 2}'),
}


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind, body = FILES[self.path]
        coded = gzip.compress(body)
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(coded)))
        self.end_headers()
        self.wfile.write(coded)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def recorded(folder: Path, url: str, requests: dict[str, bytes | None]) -> Path:
    """Have an agent make requests through WAREX; return the archive that the command writes."""
    with (
        site() as origin,
        warex.intercept(out=folder / "trial", maps={url: origin}, record_bodies=True) as proxy,
    ):
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({"https": proxy.url}),
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(proxy.ca))),
        )
        for path, form in requests.items():
            with opener.open(f"{url}{path}", data=form, timeout=20) as answer:
                assert answer.status == 200
                # A client that leaves earlier cuts the body that is recorded.
                assert answer.read()
    with pytest.raises(SystemExit) as ended:
        main(["export", str(folder / "trial"), "--to", "har", "--out", str(folder / "t.har")])
    assert not ended.value.code
    jsonschema.validate(json.loads((folder / "t.har").read_bytes()), HAR)
    return folder / "t.har"


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.browser
def test_playwright_replays_a_page_from_it(tmp_path: Path) -> None:
    from playwright.sync_api import expect, sync_playwright

    from warex.sandbox.chromium import find_chromium

    url = "https://shop.example"
    archive = recorded(tmp_path, url, dict.fromkeys(("/", "/shop.css", "/shop.js", "/dot.gif")))

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(headless_shell=True), args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.route_from_har(archive, not_found="abort")
        page.goto(f"{url}/", wait_until="load")
        expect(page.locator("#price")).to_have_text("12 €")
        color = page.evaluate("getComputedStyle(document.querySelector('#price')).color")
        width = page.evaluate("document.querySelector('img').naturalWidth")
        browser.close()
    assert (color, width) == ("rgb(1, 2, 3)", 1)


SCORE = """
import json, sys
from pathlib import Path
from webarena_verified.api import WebArenaVerified
from webarena_verified.types.config import WebArenaVerifiedConfig

archive, url = sys.argv[1:]
scorer = WebArenaVerified(
    config=WebArenaVerifiedConfig(environments={"__REDDIT__": {"urls": [url]}})
)
result = scorer.evaluate_task(
    task_id=408,
    agent_response={"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None},
    network_trace=Path(archive),
)
print(json.dumps([result.score, str(result.status.value), result.error_msg]))
"""


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.parametrize(("choice", "score"), [("1", 1.0), ("-1", 0.0)])
def test_the_scorer_of_webarena_verified_scores_it(
    python_with: Callable[[str], Program], tmp_path: Path, choice: str, score: float
) -> None:
    """Its task 408, "Upvote the newest post", is judged by a POST and its body alone."""
    url = "https://reddit.example"
    form = f"choice={choice}&token=a1".encode()
    archive = recorded(tmp_path, url, {"/": None, "/sv/125342.json": form})
    (tmp_path / "score.py").write_text(SCORE)

    python = python_with("webarena_verified")
    result = json.loads(python(tmp_path / "score.py", archive, url).splitlines()[-1])

    assert result[0] == score, result
    assert result[2] is None
