"""A page of 60 sub-resources in Chromium: what a clean lane adds, and what stock mitmdump adds."""

import os
from contextlib import ExitStack
from statistics import median

from playwright.sync_api import Browser, ProxySettings, sync_playwright

from bench.candidates import lane, mitmdump
from bench.programs import site
from bench.row import Row
from bench.setting import HOST, Setting
from bench.site import SUB_RESOURCES
from bench.turns import there_and_back
from warex.agents.reference import chromium


def measure(setting: Setting) -> list[Row]:
    """Load the page directly, through a lane and through mitmdump in turns.

    Each load has a fresh browser context, and so fresh connections and an empty cache, as each
    trial has.
    """
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.site", *setting.tls))
        proxies = {
            "direct": 0,
            "warex": stack.enter_context(lane(setting)).port,
            "mitmdump": stack.enter_context(mitmdump(setting)).port,
        }
        playwright = stack.enter_context(sync_playwright())
        browser = stack.enter_context(
            playwright.chromium.launch(
                executable_path=chromium.find(
                    None, os.environ, playwright.chromium.executable_path
                ),
                args=chromium.arguments(()),
            )
        )
        url = f"https://{HOST}:{port}/page"
        for proxy in proxies.values():
            _load(browser, url, proxy)
        loads = [
            {name: _load(browser, url, proxies[name]) for name in order}
            for order in there_and_back(list(proxies), 2 if setting.quick else 20)
        ]
    added = {
        name: median(load[name] - load["direct"] for load in loads)
        for name in ("warex", "mitmdump")
    }
    return [
        Row(
            "page",
            "page of 60 sub-resources in Chromium, clean: added time, to what mitmdump adds",
            added["warex"] / added["mitmdump"],
            "times",
            1,
            at_least=False,
            detail=f"direct {median(load['direct'] for load in loads):.0f} ms; a lane adds "
            f"{added['warex']:.0f} ms, mitmdump {added['mitmdump']:.0f} ms",
        )
    ]


def _load(browser: Browser, url: str, proxy: int) -> float:
    """Return the milliseconds until the page and all its parts had loaded, by the browser's clock.

    Raises RuntimeError where a part is missing.
    """
    # Chromium would send loopback past the proxy.
    settings = ProxySettings(server=f"http://127.0.0.1:{proxy}", bypass="<-loopback>")
    with browser.new_context(
        proxy=settings if proxy else None, ignore_https_errors=True
    ) as context:
        page = context.new_page()
        page.goto(url, wait_until="load")
        parts: int = page.evaluate("performance.getEntriesByType('resource').length")
        if parts != SUB_RESOURCES:
            raise RuntimeError(f"{parts} of {SUB_RESOURCES} parts were loaded through port {proxy}")
        taken: float = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventStart")
        return taken
