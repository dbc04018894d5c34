"""DevTools of a real Chromium import the archive through their own button."""

import base64
import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.analysis.builders import SHOP, Story
from warex.exports.run_formats.har import har
from warex.sandbox.chromium import find_chromium
from warex.traces.blobs import BlobStore
from warex.traces.event_parts import Timings
from warex.traces.events import RequestSeen, ResponseSeen
from warex.traces.paths import TrialKey
from warex.traces.reader import read_trace

# It bounds a hang: a machine may be busy.
expect.set_options(timeout=30_000)

DEVTOOLS = "devtools://devtools/bundled/devtools_app.html?panel=network"
HTML = b"<title>Shop</title><script>document.title = 'owned'</script>12 \xe2\x82\xac"
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
UNREADABLE = "/bad?\ud800%ff&&=&a</script>"


def archive(folder: Path) -> Path:
    """Write the archive of a trial: bodies, a fault, a cut connection and a hostile address."""
    story = Story().fault(1).asks("cut", f"{SHOP}cut").gets("cut", None, by="none")
    blobs = BlobStore(folder / "blobs")
    for name, kind, data in (("page", "text/html", HTML), ("dot.gif", "image/gif", GIF)):
        add_answer(story, f"{SHOP}{name}", kind, blobs.put(data))
    add_answer(story, f"{SHOP[:-1]}{UNREADABLE}", "", "")
    trace = read_trace(story.stops().write(folder / "events.jsonl"), lean=True)
    path = folder / "trial.har"
    path.write_text(json.dumps(har(trace, TrialKey("testbed", "a", "c", "t"), blobs)))
    return path


def add_answer(story: Story, url: str, kind: str, body: str) -> None:
    headers = [("Content-Type", kind)]
    story.add(
        RequestSeen(
            exchange=url,
            method="GET",
            url=url,
            resource="document",
            http_version="HTTP/2",
            connection="c1",
            size=0,
        )
    ).add(
        ResponseSeen(
            exchange=url,
            status=200,
            resource="document",
            by="site",
            headers=headers,
            size=7,
            body_blob=body,
            timings=Timings(total=0.1),
        )
    )


def row(page: Page, *texts: str) -> Locator:
    """Return the row of the network panel that has these texts."""
    rows = page.locator(".network-log-grid .data-grid-data-grid-node")
    for text in texts:
        rows = rows.filter(has_text=text)
    return rows


@pytest.mark.slow
@pytest.mark.browser
def test_devtools_import_it(tmp_path: Path) -> None:
    chromium = find_chromium()
    if "headless" in chromium.name:
        pytest.skip(f"{chromium} has no DevTools: they are a part of the whole Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(DEVTOOLS)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Import HAR").first.click()
        chooser.value.set_files(archive(tmp_path))

        expect(row(page, "shop.example", "500")).to_have_count(1)
        # DevTools do not read `_error`: it stays in the file.
        expect(row(page, "cut", "Finished")).to_have_count(1)
        expect(row(page, "page", "200", "document")).to_have_count(1)
        expect(row(page, "dot.gif", "200")).to_have_count(1)
        expect(row(page, "bad", "</script>", "200")).to_have_count(1)
        expect(row(page)).to_have_count(5)
        row(page, "page").locator(".name-column").click()
        page.get_by_role("tab", name="Response").click()
        expect(page.locator(".cm-content")).to_contain_text("<title>Shop</title>")
        expect(page.locator(".cm-content")).to_contain_text("12 €")
        browser.close()
