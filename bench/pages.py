"""A page of 60 sub-resources in Chromium: what a clean lane adds, and what stock mitmdump adds."""

from contextlib import ExitStack
from statistics import median

from playwright.sync_api import Browser

from bench.browser import fresh_page, load_milliseconds, loaded, trusting_browser
from bench.candidates import lane
from bench.counted import Lane
from bench.peers.mitmdump import mitmdump
from bench.programs import site
from bench.row import Row
from bench.setting import HOST, Setting
from bench.site import SUB_RESOURCES
from bench.turns import there_and_back


def measure(setting: Setting) -> list[Row]:
    """Load the page directly, through a lane and through mitmdump in turns.

    Each load has a fresh browser context, and so fresh connections and an empty cache, as each
    trial has.
    """
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.site", *setting.tls))
        clean = stack.enter_context(lane(setting))
        proxies = {
            "direct": 0,
            "warex": clean.port,
            "mitmdump": stack.enter_context(mitmdump(setting)).port,
        }
        browser = stack.enter_context(trusting_browser(setting))
        url = f"https://{HOST}:{port}/page"

        def load(name: str) -> float:
            return timed_load(browser, url, proxies[name], clean if name == "warex" else None)

        for name in proxies:
            load(name)
        loads = [
            {name: load(name) for name in order}
            for order in there_and_back(list(proxies), 2 if setting.quick else 20)
        ]
    typical = {name: median(each[name] for each in loads) for name in proxies}
    added = {
        name: median(each[name] - each["direct"] for each in loads)
        for name in ("warex", "mitmdump")
    }
    times = median(each["warex"] / each["direct"] for each in loads)
    behind = (
        f"direct {typical['direct']:.0f} ms; a lane adds {added['warex']:.0f} ms, mitmdump"
        f" {added['mitmdump']:.0f} ms"
    )
    return [
        Row(
            "page",
            "page of 60 sub-resources in Chromium, clean: added time, to what mitmdump adds",
            added["warex"] / added["mitmdump"],
            "times",
            1,
            at_least=False,
            detail=behind,
        ),
        Row(
            "page-direct",
            "the same page through a lane, to the page without a proxy",
            times,
            "times",
            2.5,
            at_least=False,
            detail=behind,
        ),
    ]


def timed_load(browser: Browser, url: str, proxy: int, counts: Lane | None) -> float:
    """Return the milliseconds until the page and all its parts had loaded.

    The lane, if it is one, counts them. Raises RuntimeError where a part is missing.
    """
    with fresh_page(browser, proxy) as page:
        page.goto(url, wait_until="load")
        parts = loaded(page)
        if len(parts) != 1 + SUB_RESOURCES:
            raise RuntimeError(
                f"{len(parts) - 1} of {SUB_RESOURCES} parts were loaded through port {proxy}"
            )
        if counts:
            counts.answered(*parts)
        return load_milliseconds(page)
