"""The report in a real browser: it can be read, in every light and width, and asks for nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.analysis.builders import RunFolder, failed, solved
from tests.report.sample import make
from warex.analysis.run.load import load_run
from warex.report.html.page import write_report

pytestmark = pytest.mark.browser


def slow(*cases: object) -> list[Any]:
    return [pytest.param(case, marks=pytest.mark.slow) for case in cases]


FIGURES = (
    "success",
    "delta",
    "success-bars",
    "latency",
    "llm-calls",
    "cost",
    "tradeoff",
    "recovery",
    "reloads",
    "dose-1",
    "sites",
    "delivery",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = make(tmp_path_factory.mktemp("run"), tasks=4, repeats=2)
    return write_report(load_run(folder)).as_uri()


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    yield context.new_page()
    context.close()


def _open(page: Page, report: str, asked: list[str] | None = None) -> list[str]:
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    if asked is not None:
        page.on("request", lambda request: asked.append(request.url))
    page.goto(report)
    return messages


def _unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")


def _overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def _paper(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.parametrize("media", ["light", *slow("dark", "print")])
def test_every_figure_is_there_and_nothing_is_asked_for_or_complained_of(
    page: Page, report: str, media: Literal["light", "dark", "print"]
) -> None:
    asked: list[str] = []
    if media == "print":
        page.emulate_media(media="print", color_scheme="dark")
    else:
        page.emulate_media(color_scheme=media)
    messages = _open(page, report, asked)
    _unfold(page)

    for name in FIGURES:
        box = page.locator(f"svg[aria-labelledby^='{name}-title ']").bounding_box()
        assert box is not None, name
        assert box["width"] > 100, name
        assert box["height"] > 50, name
    assert asked == [report]
    assert messages == []


@pytest.mark.parametrize("width", [360, *slow(1200, 420)])
def test_nothing_needs_to_be_scrolled_sideways(page: Page, report: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    _open(page, report)
    _unfold(page)

    assert _overflow(page) <= 0
    cut = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        ".map(e => e.getAttribute('aria-labelledby'))"
    )
    assert cut == []


def test_what_a_reader_wants_first_fits_few_screens(page: Page, report: str) -> None:
    _open(page, report)
    folded = page.evaluate("document.documentElement.scrollHeight")
    _unfold(page)

    assert folded < 0.4 * page.evaluate("document.documentElement.scrollHeight")


def test_a_reader_can_ask_for_failures_alone_and_for_one_condition(
    page: Page, tmp_path: Path
) -> None:
    run = RunFolder(tmp_path).manifest(conditions=["clean", "down", "slow"])
    for task in ("bad", "good"):
        for condition in ("clean", "down", "slow"):
            fails = (task, condition) == ("bad", "down")
            run.trial(condition, task, failed() if fails else solved())
    _open(page, write_report(load_run(tmp_path)).as_uri())
    tasks = page.get_by_role("table", name="Task by task")
    bad, good = (tasks.get_by_role("cell", name=name, exact=True) for name in ("bad", "good"))

    expect(good).to_be_visible()
    page.get_by_label("only failures").check()
    expect(bad).to_be_visible()
    expect(good).to_be_hidden()
    page.get_by_label("slow", exact=True).check()
    expect(bad).to_be_hidden()
    expect(page.get_by_text("No task is like this.")).to_be_visible()
    expect(tasks.get_by_role("columnheader", name="down")).to_be_hidden()
    page.get_by_label("all tasks").check()
    expect(good).to_be_visible()
    expect(page.get_by_text("No task is like this.")).to_be_hidden()


def test_every_word_of_a_figure_is_inside_it(page: Page, report: str) -> None:
    _open(page, report)
    _unfold(page)

    outside = page.evaluate(
        """[...document.querySelectorAll('svg.chart')].flatMap(svg => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter(text => {
                const box = text.getBoundingClientRect();
                return box.left < frame.left - 2 || box.right > frame.right + 2
                    || box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
            }).map(text => svg.getAttribute('aria-labelledby') + ': ' + text.textContent);
        })"""
    )
    assert outside == []


def test_the_reader_chooses_light_or_dark_by_keyboard(page: Page, report: str) -> None:
    page.emulate_media(color_scheme="dark")
    _open(page, report)
    dark = _paper(page)
    page.get_by_label("as the system").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("light", exact=True)).to_be_checked()
    light = _paper(page)
    page.keyboard.press("ArrowRight")

    assert dark == "rgb(20, 23, 29)"
    assert light == "rgb(251, 250, 248)"
    assert _paper(page) == dark


def test_a_screen_reader_gets_the_report_in_order(page: Page, report: str) -> None:
    _open(page, report)
    _unfold(page)

    expect(page.get_by_role("heading", level=1)).to_have_text("sample")
    expect(page.get_by_role("img", name="Success with 95 % interval")).to_be_visible()
    table = page.get_by_role("table", name="Success under each condition")
    expect(table.get_by_role("columnheader", name="Δ clean")).to_be_visible()
    expect(table.get_by_role("rowheader", name="server-error", exact=True).first).to_be_visible()


@pytest.mark.slow
def test_a_printed_page_is_as_wide_as_the_paper(page: Page, report: str, tmp_path: Path) -> None:
    page.emulate_media(media="print")
    # The width of an A4 page between its margins, in CSS pixels.
    page.set_viewport_size({"width": 703, "height": 1000})
    _open(page, report)

    assert _overflow(page) <= 0
    expect(page.get_by_label("as the system")).to_be_hidden()
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
