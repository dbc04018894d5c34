"""A page of 60 sub-resources in Chromium: what a clean lane adds."""

from contextlib import ExitStack
from statistics import median

from playwright.sync_api import Browser

from bench.row import Row
from bench.traffic.browser import fresh_page, load_milliseconds, loaded, trusting_browser
from bench.traffic.counted_lanes import Lane
from bench.traffic.measured_lanes import lane
from bench.traffic.programs import site
from bench.traffic.site import SUB_RESOURCES
from bench.turn_order import there_and_back
from bench.workspace import HOST, Setting


def measure(setting: Setting) -> list[Row]:
    """Load the page directly and through a lane in turns.

    Each load has a fresh browser context, and so fresh connections and an empty cache, as each
    trial has.
    """
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.traffic.site", *setting.tls))
        clean = stack.enter_context(lane(setting))
        browser = stack.enter_context(trusting_browser(setting))
        url = f"https://{HOST}:{port}/page"
        ways: dict[str, Lane | None] = {"direct": None, "warex": clean}
        for way in ways.values():
            timed_load(browser, url, way)
        loads = [
            {name: timed_load(browser, url, ways[name]) for name in order}
            for order in there_and_back(list(ways), 2 if setting.quick else 20)
        ]
    direct = median(each["direct"] for each in loads)
    added = median(each["warex"] - each["direct"] for each in loads)
    return [
        Row(
            "page",
            "page of 60 sub-resources in Chromium through a lane, to the page without a proxy",
            median(each["warex"] / each["direct"] for each in loads),
            "times",
            2.5,
            at_least=False,
            detail=f"direct {direct:.0f} ms; a lane adds {added:.0f} ms",
        )
    ]


def timed_load(browser: Browser, url: str, way: Lane | None) -> float:
    """Return the milliseconds until the page and all its parts had loaded.

    ``way`` is the lane, which counts them; None for none. Raises RuntimeError where a part is
    missing.
    """
    with fresh_page(browser, way.port if way else 0) as page:
        page.goto(url, wait_until="load")
        parts = loaded(page)
        if len(parts) != 1 + SUB_RESOURCES:
            through = f"a lane on port {way.port}" if way else "no proxy"
            raise RuntimeError(
                f"{len(parts) - 1} of {SUB_RESOURCES} parts were loaded through {through}"
            )
        if way:
            way.answered(*parts)
        return load_milliseconds(page)
