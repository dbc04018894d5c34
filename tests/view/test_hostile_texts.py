"""What a site sent, in a real browser: shown as text when it is asked for, and never run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.analysis.builders import SHOP, RunFolder, Story, failed
from tests.view.browsing import open_page, serving
from warex.traces.blobs import BlobStore, reference
from warex.traces.event_parts import Timings
from warex.traces.events import RequestSeen, ResponseSeen
from warex.traces.paths import AGENT_LOG, BLOBS
from warex.view.documents import Documents
from warex.view.static_site import write_static_site

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ATTACK = (
    "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
)
BODIES = {
    "page": ("text/html", f"<title>{ATTACK}</title><body onload=x()>{ATTACK}".encode(), "onload="),
    "json": ("application/json", f'{{"name":"{ATTACK}"}}'.encode(), '\n "name": "</script>'),
    "svg": ("image/svg+xml", f"<svg onload=x()>{ATTACK}</svg>".encode(), "<svg onload"),
    "invalid": (ATTACK, b"a\xff" + ATTACK.encode(), "It is not UTF-8"),
    "picture": ("image/png", b"\x89PNG\r\n\x1a\n" + ATTACK.encode(), "only text is shown"),
    "missing": ("text/html", b"missing", "No such file"),
    "fifo": ("text/html", b"fifo", "it is a FIFO"),
    "large": ("text/html", b"large", "it has more than 4,194,304 bytes"),
    "damaged": ("text/html", b"damaged", "no longer has that hash"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial whose answers have hostile bodies, or ones that cannot be read."""
    path = tmp_path_factory.mktemp("run")
    story = Story()
    for name, (kind, data, _) in BODIES.items():
        story.add(
            RequestSeen(
                exchange=name,
                method="GET",
                url=f"{SHOP}{name}",
                resource="document",
                http_version="HTTP/2",
                connection="c1",
                size=0,
            )
        ).add(
            ResponseSeen(
                exchange=name,
                status=200,
                resource="document",
                by="site",
                headers=[("Content-Type", kind), ("Content-Length", "100000000")],
                size=100_000_000,
                body_blob=reference(data),
                timings=Timings(total=0.1),
            )
        )
    folder = RunFolder(path).manifest().trial("clean", "buy", failed(), story.stops())
    (folder / AGENT_LOG).write_text(f"\x1b[31m{ATTACK}")
    blobs = BlobStore(folder / BLOBS)
    for data in (data for _, data, _ in BODIES.values()):
        blobs.put(data)
    place = {name: folder / BLOBS / reference(BODIES[name][1]) for name in BODIES}
    place["missing"].unlink()
    place["fifo"].unlink()
    os.mkfifo(place["fifo"])
    os.truncate(place["large"], 100_000_000)
    place["damaged"].write_text("other")
    return path


@pytest.fixture(scope="module", params=["server", "files"])
def address(
    run: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    if request.param == "server":
        with serving(run) as address:
            yield address
        return
    site = tmp_path_factory.mktemp("site")
    write_static_site(Documents([run]), site)
    yield (site / "index.html").as_uri()


def test_bodies_and_logs_are_shown_when_asked_for_and_never_run(
    browser: Browser, address: str
) -> None:
    page = open_page(browser, address)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.get_by_role("link", name="failed").click()
    page.get_by_text("what the agent printed").click()
    expect(page.locator(".tools details[open]")).to_contain_text(ATTACK)
    for name, (_, _, words) in BODIES.items():
        page.get_by_role("listitem").filter(has_text=f"{SHOP}{name} ").click()
        expect(page.get_by_role("heading", name=f"{SHOP}{name}")).to_be_visible()
        page.get_by_text("Answer: body").click()
        expect(page.locator(".detail details")).to_contain_text(words)
        expect(page.locator("img[src=x], svg[onload], main script")).to_have_count(0)

    expect(page).to_have_title("WAREX")
    assert problems == []
    page.close()
