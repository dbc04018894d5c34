"""The time that a clean lane adds to a page of 60 sub-resources in Chromium."""

from contextlib import ExitStack
from statistics import median

from playwright.sync_api import Browser

from bench.row import Row
from bench.traffic.browser import fresh_page, load_milliseconds, loaded, trusting_browser
from bench.traffic.counted_lanes import Lane
from bench.traffic.measured_lanes import lane
from bench.traffic.programs import site
from bench.traffic.site import SUB_RESOURCES
from bench.turn_order import alternate
from bench.workspace import HOST, Workspace


def measure(workspace: Workspace) -> list[Row]:
    """Load the page in turns, directly and through a lane.

    Each load has a new browser context, and so new connections and an empty cache, as each trial
    has.
    """
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.traffic.site", *workspace.tls))
        clean = stack.enter_context(lane(workspace))
        browser = stack.enter_context(trusting_browser(workspace))
        url = f"https://{HOST}:{port}/page"
        ways: dict[str, Lane | None] = {"direct": None, "warex": clean}
        for proxy in ways.values():
            timed_load(browser, url, proxy)
        loads = [
            {name: timed_load(browser, url, ways[name]) for name in order}
            for order in alternate(list(ways), 2 if workspace.quick else 20)
        ]
    direct = median(each["direct"] for each in loads)
    added = median(each["warex"] - each["direct"] for each in loads)
    return [
        Row(
            "page",
            "page of 60 sub-resources in Chromium through a lane, to the page without a proxy",
            median(each["warex"] / each["direct"] for each in loads),
            "times",
            1.3,
            at_least=False,
            detail=f"direct {direct:.0f} ms; a lane adds {added:.0f} ms",
        )
    ]


def timed_load(browser: Browser, url: str, proxy: Lane | None) -> float:
    """Return the milliseconds until the page and all its parts are loaded.

    ``proxy`` counts the requests; None loads directly. Raises RuntimeError if a part is
    missing.
    """
    with fresh_page(browser, proxy.port if proxy else 0) as page:
        page.goto(url, wait_until="load")
        parts = loaded(page)
        if len(parts) != 1 + SUB_RESOURCES:
            through = f"a lane on port {proxy.port}" if proxy else "no proxy"
            raise RuntimeError(
                f"{len(parts) - 1} of {SUB_RESOURCES} parts were loaded through {through}"
            )
        if proxy:
            proxy.count_requests(*parts)
        return load_milliseconds(page)
