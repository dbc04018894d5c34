"""The search of a static folder in a real browser: it holds the trials that the server holds."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.analysis.builders import RunFolder, Story, failed
from tests.view.browsing import open_page, serving
from warex.traces.blobs import BlobStore
from warex.traces.outcome import Counted
from warex.traces.paths import BLOBS
from warex.view.documents import Documents
from warex.view.static_site import write_static_site

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ATTACK = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
SEARCHES = {
    "shop.example/k\u00e4se": ["url"],
    'the "k\u00e4se"': ["answer"],
    "K\u00e4SE": ["answer", "json", "url"],
    "K\u00c4SE": [],
    "\U0001f9c0 cheese": ["json", "text"],
    ATTACK: ["hostile"],
    "before the invalid": ["invalid"],
    "valid end": ["invalid"],
    "across pieces": ["long"],
    "picture": [],
    "hostile": ["hostile"],
    "\\u00e4": ["json"],
}
"""The tasks of the trials that each text is in."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run")
    folder = RunFolder(path).manifest()
    folder.trial("clean", "url", failed(), Story().page("x1", "https://shop.example/K\u00e4se"))
    answer = Counted(ending="answered", score=0, latency_s=1, answer='the "K\u00e4se"')
    folder.trial("clean", "answer", answer, Story())
    bodies = {
        "json": rb'{"name": "K\u00E4se", "say": "\ud83e\uddc0 Cheese"}',
        "text": "\U0001f9c0 CHEESE".encode(),
        "hostile": ATTACK.encode(),
        "invalid": b"before the invalid\xff\xc3valid end",
        "long": b"\xc3\xa4" * 40_000 + b"x" * ((1 << 20) - 80_006) + b"across pieces",
        "image": b"\x89PNG\r\n\x1a\npicture",
    }
    for task, body in bodies.items():
        BlobStore(folder.trial("clean", task, failed(), Story()) / BLOBS).put(body)
    return path


@pytest.fixture(scope="module")
def site(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_static_site(Documents([run]), folder)
    return folder


@pytest.fixture(params=["server", "files", "file server"])
def address(run: Path, site: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "server":
        with serving(run) as address:
            yield address
    elif request.param == "files":
        yield (site / "index.html").as_uri()
    else:
        handler = partial(_Quiet, directory=str(site))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever).start()
            yield f"http://127.0.0.1:{server.server_port}/"
            server.shutdown()


def look_for(page: Page, text: str) -> None:
    page.get_by_label("search").fill(text)
    page.keyboard.press("Enter")


def test_every_text_is_in_the_same_trials(browser: Browser, address: str) -> None:
    page = open_page(browser, address)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    for text, tasks in SEARCHES.items():
        look_for(page, text)
        expect(page.locator(".tasks .all .name")).to_have_text(tasks)
        look_for(page, "")
        expect(page.locator(".tasks .all .name")).to_have_count(8)

    expect(page).to_have_title("WAREX")
    assert problems == []
    page.close()


def test_a_search_has_an_address(browser: Browser, address: str) -> None:
    page = open_page(browser, f"{address}#/run/0?q=cheese")

    expect(page.locator(".tasks .all .name")).to_have_text(["json", "text"])
    page.close()
