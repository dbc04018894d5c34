"""Every fault of an exchange, whatever the browser asks for and whoever drives the browser.

A page and a JSON answer with all that a fault may change are the answers; a document, a script, a
fetch, an image, a link that is clicked and a form that is sent meet each fault, one by one.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from typing import get_args

import pytest
from playwright.sync_api import Browser
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.browser.pages.site import ICON
from tests.ports import reserved_port
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.exchange import Resource
from warex.faults import CATALOGUE, ConnectionFault, Fault, PageFault
from warex.faults.browser.popup_blocked import PopupBlocked
from warex.faults.browser.stale_service_worker import StaleServiceWorker
from warex.faults.browser.storage_failure import StorageFailure
from warex.faults.lies.stale_response import StaleResponse
from warex.faults.lies.wrong_page import WrongPage
from warex.faults.llm.base import LlmFault
from warex.faults.mcp.base import McpFault
from warex.faults.streams.base import MessageFault
from warex.faults.variation.base import VariationFault
from warex.faults.world.cookie_loss import CookieLoss
from warex.faults.world.item_gone import ItemGone
from warex.faults.world.price_change import PriceChange
from warex.faults.world.write_conflict import WriteConflict
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned, HarnessBroke, RequestSeen

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SITE = "https://shop.example"
# A worker is registered once for the site. The last ones are met only by what these pages do not
# ask for: streams, items, baskets, sessions, saves (tests/proxy/exchanges, test_changing_world.py).
_OTHERS = (
    *(ConnectionFault, LlmFault, McpFault, StaleServiceWorker),
    *(MessageFault, CookieLoss, ItemGone, PriceChange, WriteConflict),
)
FAULTS = [fault for fault in CATALOGUE if not issubclass(fault, _OTHERS)]
CAUSES = {
    "document": ("/target/document", "location.href = '/target/document'"),
    "click": ("/target/click", "document.querySelector('#link').click()"),
    "form": ("/target/form", "document.querySelector('#send').click()"),
    "script": ("/target/script.js", "add('script')"),
    "image": ("/target/image.png", "add('img')"),
    "fetch": ("/target/fetch.json", "fetch('/target/fetch.json').catch(() => {})"),
}
"""What makes the browser ask for each path."""
_PAGES = ("document", "click", "form")
_REMEMBERING: dict[type[Fault], set[str]] = {
    StaleResponse: set(),
    WrongPage: CAUSES.keys() - {"form"},
}
"""What meets a fault that gives what was given before: there is a page, and no answer."""
_MEETS: dict[type[Fault], str] = {
    StorageFailure: "<script>localStorage.length</script>",
    PopupBlocked: "<script>window.open('/')</script>",
}
"""What a page itself does to meet a fault."""
START = f"""<!doctype html><title>Start</title>{ICON}<h1>Start</h1>
<a id=link href=/target/click>Go</a>
<form action=/target/form method=post><input name=a value=1><button id=send>Send</button></form>
<script>function add(tag) {{
    const it = document.createElement(tag);
    it.src = tag === 'img' ? '/target/image.png' : '/target/script.js';
    document.body.append(it);
}}</script>"""
SHOP = f"""<!doctype html><html lang=en><head><title>Shop</title>{ICON}
<style>.card {{ color: #222 }} nav a {{ padding: 4px }}</style></head><body>
<header><nav aria-label=Main><a href=/>Home</a> <a href=/deals>Deals</a> <a href=/help>Help</a>
<a href=/cart>Cart</a></nav><input type=search name=q placeholder=Search aria-label=Search></header>
<main id=content class=unused-name><h1>Headphones</h1>
<div class=toolbar><button>Add to cart</button> <button>Save</button> <button>Share</button></div>
<p>Price: $49.90. Delivery on 12 March 2027.</p>
<ul><li class=card>Red $10.00</li><li class=card>Blue $12.50</li>
<li class=card>Green $9.99</li></ul>
<article itemprop=review><h2>Review</h2><p>Good sound, and they last a long day.</p></article>
<form action=/target/form method=post><label>Name <input name=name></label>
<label>Password <input type=password name=password value=secret></label>
<button type=submit>Continue</button></form></main><footer><a href=/terms>Terms</a></footer>"""
DATA = json.dumps(
    {
        "currency": "USD",
        "total": 2,
        "items": [
            {"id": 1, "name": "Red", "price": 10.5, "date": "2027-03-12"},
            {"id": 2, "name": "Blue", "price": 12.25, "date": "2027-03-13"},
        ],
    }
)

type Run = Callable[[str], object]
"""Runs a script in a page that asks for nothing yet."""


def answer(kind: str, body: str) -> Answer:
    return Answer(headers=[(b"Content-Type", kind.encode())], body=body.encode())


@pytest.fixture(scope="module")
def answers(site: Origin) -> Origin:
    site.routes["/"] = answer("text/html", START)
    site.routes["/target/script.js"] = answer("text/javascript", "window.ran = true;\n" * 20)
    site.routes["/target/image.png"] = answer(
        "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"
    )
    site.routes["/target/fetch.json"] = answer("application/json", DATA)
    return site


@pytest.fixture(scope="module")
def port() -> int:
    """A port for every lane in turn, since Selenium's browser is told of one proxy."""
    return reserved_port()


@pytest.fixture(scope="module")
def chrome(port: int) -> Iterator[webdriver.Chrome]:
    chromedriver = shutil.which("chromedriver")
    assert chromedriver, "install chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = str(find_chromium())
    options.accept_insecure_certs = True
    options.unhandled_prompt_behavior = "dismiss"
    for argument in (*QUIET_FLAGS, "--headless=new", "--no-sandbox", "--disable-quic"):
        options.add_argument(argument)
    options.add_argument(f"--proxy-server=http://127.0.0.1:{port}")
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    yield driver
    driver.quit()


@pytest.fixture(params=["playwright", "selenium"])
def run(request: pytest.FixtureRequest, port: int) -> Iterator[Run]:
    """Give what runs a script in a tab of its own, which nothing that follows interrupts."""
    if request.param == "selenium":
        driver: webdriver.Chrome = request.getfixturevalue("chrome")

        def by_selenium(script: str) -> None:
            driver.switch_to.new_window("tab")
            driver.get(f"{SITE}/")
            driver.execute_script(f"setTimeout(() => {{ {script} }})")

        first = driver.current_window_handle
        yield by_selenium
        driver.delete_all_cookies()
        for tab in set(driver.window_handles) - {first}:
            driver.switch_to.window(tab)
            driver.close()
        driver.switch_to.window(first)
        return
    browser: Browser = request.getfixturevalue("browser")
    context = browser.new_context(
        proxy={"server": f"http://127.0.0.1:{port}"}, ignore_https_errors=True
    )

    def by_playwright(script: str) -> None:
        page = context.new_page()
        page.goto(f"{SITE}/")
        page.evaluate(f"setTimeout(() => {{ {script} }})")

    yield by_playwright
    context.close()


def became(lane: Lane, path: str) -> list[str | None]:
    """Return what has become of what was planned for a path; None where that is open.

    What a browser repeats in silence is not a case of its own.
    """
    repeats = {it.exchange for it in lane.events(RequestSeen) if it.repeat_of is not None}
    planned = [it for it in lane.events(FaultPlanned) if it.url.endswith(path)]
    known: dict[str | None, str] = {it.injection: "met" for it in lane.events(FaultDelivered)}
    known |= {it.injection: it.reason for it in lane.events(FaultMissed)}
    return [known.get(it.injection) for it in planned if it.exchange not in repeats]


def is_over(lane: Lane, path: str) -> bool:
    result = became(lane, path)
    return bool(result) and None not in result


@pytest.mark.parametrize("kind", FAULTS, ids=lambda kind: kind.__name__)
def test_every_fault_hits_or_has_nothing_to_change_on_every_resource(
    kind: type[Fault], run: Run, begin: Begin, answers: Origin, port: int
) -> None:
    size = 1.0 if issubclass(kind, VariationFault) else 0.05
    fault = kind.model_validate(dict.fromkeys(kind.sizes, size))
    everything = {"url": f"{SITE}/target/*", "resource": get_args(Resource.__value__)}
    maps = (f"{SITE}=http://127.0.0.1:{answers.port}",)
    for cause in _PAGES:
        page = SHOP + _MEETS.get(kind, "")
        answers.routes[CAUSES[cause][0]] = answer("text/html; charset=utf-8", page)
    with begin(scenario=scenario(fault, match=everything), maps=maps, port=port) as lane:
        for path, script in CAUSES.values():
            run(script)
            wait_until(partial(is_over, lane, path))

    assert not lane.events(HarnessBroke)
    results = {cause: became(lane, path) for cause, (path, _) in CAUSES.items()}
    # A redirect may be followed until the trial is over.
    met = {cause for cause, each in results.items() if {*each} - {"trial_over"} == {"met"}}
    if isinstance(fault, PageFault):
        assert met == set(_PAGES)
    else:
        assert met if fault.rewrites else met == _REMEMBERING.get(kind, CAUSES.keys())
    assert all(results[it] == ["nothing_to_rewrite"] for it in CAUSES.keys() - met), results
