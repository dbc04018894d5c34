"""Screenshots in a real browser: the film strip and its rings; and what a trial is laid beside."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.view.browsing import open_page
from warex.traces.blobs import BlobStore
from warex.traces.paths import BLOBS
from warex.view.documents import Documents
from warex.view.static_site import write_static_site

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def picture(browser: Browser) -> bytes:
    page = browser.new_page(viewport={"width": 200, "height": 100})
    data = page.screenshot()
    page.close()
    return data


def test_clicks_have_a_ring_and_a_range_selects_frames(browser: Browser, tmp_path: Path) -> None:
    run, site = tmp_path / "run", tmp_path / "site"
    seen = BlobStore(tmp_path / BLOBS).put(picture(browser))
    shot = [{"role": "user", "content": [{"type": "image_url", "image_url": f"blob:{seen}"}]}]
    text = [{"role": "user", "content": "The basket is empty."}]
    story = (
        Story()
        .thinks(1, "click", messages=shot, answer="pyautogui.click(50, 25)")  # type: ignore[arg-type]
        .thinks(2, "click", messages=text)  # type: ignore[arg-type]
        .stops()
    )
    attempt = RunFolder(run).manifest().trial("clean", "buy", solved(), story)
    (tmp_path / BLOBS).rename(attempt / BLOBS)
    write_static_site(Documents([run]), site)
    page = open_page(browser, (site / "index.html").as_uri())
    page.get_by_role("link", name=re.compile("^buy,")).click()
    strip = page.get_by_role("list", name="What the model was shown")

    expect(strip.get_by_role("listitem")).to_have_count(2)
    expect(strip.get_by_text("The basket is empty.")).to_be_visible()
    ring, image = strip.locator(".point").bounding_box(), strip.locator("img").bounding_box()
    assert ring is not None
    assert image is not None
    assert ring["x"] + ring["width"] / 2 - image["x"] == pytest.approx(image["width"] / 4, abs=1)
    assert ring["y"] + ring["height"] / 2 - image["y"] == pytest.approx(image["height"] / 4, abs=1)
    strip.get_by_role("button", name="Step 1").click()
    expect(page.locator(".detail .point")).to_have_attribute("title", re.compile("at 50, 25"))
    page.get_by_label("to", exact=True).fill("2")
    page.keyboard.press("Enter")
    expect(strip.get_by_role("listitem")).to_have_count(1)
    expect(page.locator(".event", has_text="step 2")).to_have_count(0)
    page.close()


def test_a_trial_is_laid_beside_a_chosen_one(browser: Browser, tmp_path: Path) -> None:
    runs = [tmp_path / "old", tmp_path / "new"]
    for run, action in zip(runs, ("click", "reload"), strict=True):
        folder = RunFolder(run).manifest()
        one = Story().thinks(1, "goto").thinks(2, action).stops()
        folder.trial("clean", "buy", solved(), one)
        folder.trial("clean", "buy", failed(), Story().thinks(1, "noop").stops(), repeat=2)
        folder.trial("clean", "buy", solved(), one, agent="hasty")
    write_static_site(Documents(runs), tmp_path / "site")
    page = open_page(browser, f"{(tmp_path / 'site' / 'index.html').as_uri()}#/run/1")
    page.get_by_role("link", name=re.compile("patient, clean, repeat 1")).click()
    choice = page.get_by_label("compare with")

    expect(choice.locator("option")).to_have_text(
        ["choose a trial", "repeat 2", "agent hasty", "old"]
    )
    choice.select_option(label="old")
    page.get_by_role("button", name="compare").click()

    expect(page.get_by_text("They diverge at step 2, after 1 equal step")).to_be_visible()
    expect(page.locator(".pair-line.first")).to_contain_text("reload()")
    page.close()
