"""The time and memory of ``warex view``, in a real browser, on large runs."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.processes import HAS_PROCFS, processor_seconds, resident
from bench.row import Row
from bench.run_folder import write_run
from bench.workspace import Workspace
from warex.sandbox.chromium import find_chromium

NAMES = ("view-run", "view-trial", "view-scroll", "view-events", "view-memory")
WAREX = str(Path(sys.executable).with_name("warex"))
_FRAMES = 180
_SCROLL = """
async (frames) => {
  const list = document.querySelector(".events");
  const times = [];
  let rows = 0;
  for (let frame = 0; frame <= frames; frame++) {
    times.push(await new Promise(requestAnimationFrame));
    list.scrollTop += 400;
    rows = Math.max(rows, list.querySelectorAll(".event").length);
  }
  const spans = times.slice(1).map((time, index) => time - times[index]);
  return { spans, rows, top: list.scrollTop };
}
"""
"""Scrolls a list frame by frame; returns the milliseconds of each and the most rows in the page."""


_OPENINGS = 3


@dataclass(frozen=True, slots=True)
class _Viewer:
    """A running ``warex view``."""

    address: str
    process: int


@dataclass(frozen=True, slots=True)
class _Opening:
    """What it took until something was in the page."""

    seconds: float
    server: float
    """Processor time of the server, in seconds."""
    page: float
    """That of the page's main thread."""

    @property
    def detail(self) -> str:
        return f"processor time: server {self.server:.2f} s, page {self.page:.2f} s"


def measure(workspace: Workspace) -> list[Row]:
    """Write three runs and open them in a browser."""
    trials = 100 if workspace.quick else 10_000
    steps, requests = (30, 10) if workspace.quick else (300, 17)
    pages = 10 if workspace.quick else 1000
    folder = workspace.fresh("view")
    run = write_run(folder / "run", trials, prompt=200)
    trial = write_run(folder / "trial", 1, steps, prompt=200, requests=requests)
    events = write_run(folder / "events", 1, pages, prompt=12, requests=499)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(headless_shell=True), args=["--no-sandbox"]
        )
        rows = [
            _opened_run(browser, run, trials),
            *_opened_trial(browser, trial, steps, steps * requests),
            *_indexed(browser, events),
        ]
        browser.close()
    return rows


def _opened_run(browser: Browser, run: Path, trials: int) -> Row:
    openings: list[_Opening] = []
    for _ in range(_OPENINGS):
        with _viewing(run) as viewer, browser.new_page() as page:
            with _measured(viewer, page, openings):
                page.goto(viewer.address)
                page.get_by_text(f"{trials:,} trials of", exact=False).wait_for()
                page.locator("a.cell").first.wait_for()
            cells = page.locator("a.cell").count()
    opening = _middle(openings)
    return Row(
        "view-run",
        "`warex view`: a run of 10,000 trials",
        opening.seconds,
        "s",
        1,
        at_least=False,
        detail=f"{trials:,} trials, {cells} of them in the page at once; {opening.detail}",
    )


def _opened_trial(browser: Browser, run: Path, steps: int, exchanges: int) -> Iterator[Row]:
    openings: list[_Opening] = []
    for _ in range(_OPENINGS):
        with _viewing(run) as viewer, browser.new_page() as page:
            _open_first_trial(viewer, page, openings)
            _expect_events(page, steps + exchanges)
            scrolled = page.evaluate(_SCROLL, _FRAMES)
    opening, spans = _middle(openings), sorted(scrolled["spans"])
    yield Row(
        "view-trial",
        "`warex view`: a trial of 300 steps and 5,100 exchanges",
        opening.seconds,
        "s",
        0.5,
        at_least=False,
        detail=f"{steps:,} steps, {exchanges:,} exchanges; {opening.detail}",
    )
    yield Row(
        "view-scroll",
        "`warex view`: a frame while that trial is scrolled, nine of ten",
        spans[len(spans) * 9 // 10],
        "ms",
        17,
        at_least=False,
        detail=f"median {spans[len(spans) // 2]:.1f} ms of {len(spans)} frames,"
        f" {scrolled['top']:,.0f} px; at most {scrolled['rows']} rows in the page",
    )


def _indexed(browser: Browser, run: Path) -> Iterator[Row]:
    (trace,) = run.rglob("events.jsonl")
    lines = trace.read_bytes().count(b"\n")
    openings: list[_Opening] = []
    with _viewing(run) as viewer, browser.new_page() as page:
        _open_first_trial(viewer, page, openings)
        # The calls to the model have two events as well: the call and its action.
        _expect_events(page, lines // 2 - 1)
        memory = resident(viewer.process, "VmHWM") / 1e6 if HAS_PROCFS else None
    size = f"{lines:,} events, {trace.stat().st_size / 1e6:,.0f} MB"
    yield Row(
        "view-events",
        "`warex view`: a trial of 1,000,000 events",
        openings[0].seconds,
        "s",
        10,
        at_least=False,
        detail=f"{size}; {openings[0].detail}",
    )
    yield Row(
        "view-memory",
        "`warex view`: most memory of the server after it",
        memory,
        "MB",
        400,
        at_least=False,
        detail=size,
    )


def _open_first_trial(viewer: _Viewer, page: Page, openings: list[_Opening]) -> None:
    """Open a run; once its figures are there, open its first trial, which is measured."""
    page.goto(viewer.address)
    page.locator("a.cell").first.wait_for()
    page.get_by_text("The figures are computed").wait_for(state="hidden")
    with _measured(viewer, page, openings):
        page.locator("a.cell").first.click()
        page.locator(".event.on").wait_for(timeout=120_000)


@contextmanager
def _measured(viewer: _Viewer, page: Page, openings: list[_Opening]) -> Iterator[None]:
    """Add what happens meanwhile to the openings."""
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def in_page() -> float:
        metrics = tools.send("Performance.getMetrics")["metrics"]
        return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")

    page_began, server_began = in_page(), processor_seconds(viewer.process)
    began = time.perf_counter()
    yield
    seconds = time.perf_counter() - began
    server = processor_seconds(viewer.process) - server_began
    openings.append(_Opening(seconds, server, in_page() - page_began))


def _middle(openings: Sequence[_Opening]) -> _Opening:
    return sorted(openings, key=lambda opening: opening.seconds)[len(openings) // 2]


def _expect_events(page: Page, least: int) -> None:
    """Require that the page lists at least this many events; a few more have no lane."""
    text = page.locator("section[aria-label='What happened'] [role=status]").inner_text()
    shown = int(text.split()[0].replace(",", ""))
    if not least <= shown <= least + 10:
        raise RuntimeError(f"the page lists {shown:,} events; the trace has {least:,}")


@contextmanager
def _viewing(run: Path) -> Iterator[_Viewer]:
    command = [WAREX, "view", str(run), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        match = re.search(r"http://\S+", process.stdout.readline())
        assert match
        try:
            yield _Viewer(match[0], process.pid)
        finally:
            process.terminate()
