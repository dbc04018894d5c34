"""The viewer in a real browser on runs that are damaged, grow, vanish, or attack who looks."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.view.browsing import open_page, serving
from warex.traces.paths import BLOBS, EVENTS
from warex.view.documents import Documents
from warex.view.static_site import write_static_site

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ATTACK = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
LARGE_BLOB = f"sha256/{'5' * 64}"


def story() -> Story:
    return Story().thinks(1, "goto").page("x1").page("x2").stops()


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one healthy trial, and others that each have a damage of their own."""
    path = tmp_path_factory.mktemp("damaged")
    folder = RunFolder(path).manifest()
    folder.trial("clean", "healthy", solved(), story())
    folder.trial("clean", "no outcome", None, story())
    folder.trial("clean", "no trace", solved())
    torn = folder.trial("clean", "torn", solved(), story()) / EVENTS
    lines = torn.read_bytes().splitlines(keepends=True)
    torn.write_bytes(b"".join([*lines[:3], lines[3][:40] + b"\n", *lines[4:-1], lines[-1][:50]]))
    newer = folder.trial("clean", "newer", solved(), story()) / EVENTS
    newer.write_text(newer.read_text().replace('"schema_version":3', '"schema_version":99'))
    fifo = folder.trial("clean", "fifo", solved(), story()) / EVENTS
    fifo.unlink()
    os.mkfifo(fifo)
    shot = [{"role": "user", "content": [{"type": "image_url", "image_url": f"blob:{LARGE_BLOB}"}]}]
    large = folder.trial(
        "clean",
        "large blob",
        solved(),
        Story().thinks(1, "goto", messages=shot).stops(),  # type: ignore[arg-type]
    )
    blob = large / BLOBS / LARGE_BLOB
    blob.parent.mkdir(parents=True)
    with blob.open("wb") as file:
        file.truncate(5_000_000_000)
    return path


@pytest.fixture(scope="module", params=["server", "files"])
def address(
    damaged: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    if request.param == "server":
        with serving(damaged) as address:
            yield address
        return
    site = tmp_path_factory.mktemp("site")
    write_static_site(Documents([damaged]), site)
    yield (site / "index.html").as_uri()


def open_trial(page: Page, task: str) -> None:
    page.get_by_role("link", name=re.compile(rf"^{task},")).click()


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("no outcome", None),
        ("no trace", "no traffic was recorded"),
        ("torn", "this is not a line of JSON"),
        ("torn", "the last line is cut short"),
        ("newer", "schema_version 99 is unknown"),
        ("fifo", "it is a FIFO, not an ordinary file"),
        ("large blob", "The screenshot of step 1 cannot be shown."),
    ],
)
def test_a_damage_is_reported_in_a_sentence_and_all_else_is_shown(
    browser: Browser, address: str, task: str, sentence: str | None
) -> None:
    page = open_page(browser, address)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    expect(page.locator("a.cell")).to_have_count(7)

    open_trial(page, task)
    if sentence is not None:
        expect(page.get_by_text(sentence).first).to_be_visible()
    if task not in ("fifo", "no trace", "newer"):
        expect(page.get_by_role("heading", name="Step 1")).to_be_visible()
    page.get_by_role("link", name="run", exact=True).click()
    open_trial(page, "healthy")

    expect(page.get_by_role("heading", name="Step 1")).to_be_visible()
    assert problems == []
    page.close()


def test_a_run_that_grows_is_followed_and_one_that_vanishes_is_reported(
    browser: Browser, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    folder = RunFolder(run).manifest()
    folder.trial("clean", "first", solved(), story())
    with serving(run, follow=True) as address:
        page = open_page(browser, address)
        expect(page.locator("a.cell")).to_have_count(1)
        folder.trial("clean", "second", solved(), story())
        expect(page.locator("a.cell")).to_have_count(2, timeout=20_000)

        shutil.rmtree(run)
        page.get_by_role("link", name=re.compile("^second,")).click()
        expect(page.get_by_role("alert")).to_contain_text("is not there any more")
        page.get_by_role("link", name="run", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("is not a folder", timeout=20_000)
        page.close()


def test_nothing_of_a_hostile_run_runs_or_becomes_an_element(
    browser: Browser, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    folder = RunFolder(run).manifest(name=ATTACK)
    page_shown = [{"role": "user", "content": ATTACK}]
    hostile = (
        Story()
        .thinks(1, ATTACK, arguments=[ATTACK], messages=page_shown, answer=ATTACK)  # type: ignore[arg-type]
        .asks("x0", f"https://shop.example/{ATTACK}", x_attack=ATTACK)
        .gets("x0")
        .lied(1, ATTACK, ATTACK)
        .popup(2)
        .reports(2, "typed", detail=ATTACK)
        .stops()
    )
    folder.trial("clean", ATTACK, solved(1.0, ATTACK), Story().thinks(1, "goto").stops())
    folder.trial(ATTACK, ATTACK, failed(1.0, ATTACK), hostile, agent=ATTACK)
    folder.trial("wrong-numbers", ATTACK, failed(1.0, ATTACK), hostile)
    with serving(run) as address:
        page = open_page(browser, address)
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        cells = page.locator("a.cell")
        expect(cells).to_have_count(3)

        for number in range(3):
            cells.nth(number).click()
            expect(page.locator(".event.on")).to_be_visible()
            events = page.locator(".event").count()
            for _ in range(events):
                page.keyboard.press("k")
            for _ in range(events):
                page.keyboard.press("j")
                for summary in page.locator(".detail summary").all():
                    summary.click()
                expect(page.locator("img[src=x], main script")).to_have_count(0)
            page.get_by_role("link", name="run", exact=True).click()
        page.get_by_role("link", name=re.compile("wrong-numbers")).click()
        page.get_by_role("link", name="compare with the clean twin").click()
        expect(page.get_by_text("They diverge at step 1")).to_be_visible()

        expect(page.locator("img[src=x], main script")).to_have_count(0)
        expect(page).to_have_title("WAREX")
        assert dialogs == []
        page.close()
