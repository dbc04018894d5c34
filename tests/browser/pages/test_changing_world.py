"""A world that changes under its visitor, in real Chromium: what a page shows, and what adds up."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.site import ICON, lane_to
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.world.item_gone import ItemGone
from warex.scenarios import Scenario, Trigger
from warex.traces import FaultDelivered, HarnessBroke

pytestmark = pytest.mark.browser

SITE = "https://shop.example"
HTML = (b"Content-Type", b"text/html; charset=utf-8")
BASKET = f"""<!doctype html><html lang=de><title>Warenkorb</title>{ICON}
<main><h1>Warenkorb</h1><div class=lines>
<div class=line><a href=/p/1>Zelt</a>
<span>617,25&nbsp;\u20ac</span> <b>1.234,50&nbsp;\u20ac</b></div>
<div class=line><a href=/p/2>Seil</a>
<span>10,00&nbsp;\u20ac</span> <b>10,00&nbsp;\u20ac</b></div></div>
<dl><dt>Zwischensumme</dt><dd id=sub>1.244,50&nbsp;\u20ac</dd>
<dt>Versand</dt><dd id=ship>4,90&nbsp;\u20ac</dd>
<dt>Gesamtsumme</dt><dd id=total>1.249,40&nbsp;\u20ac</dd></dl></main>"""
NEXT = f"""<!doctype html><html lang=de><title>Kasse</title>{ICON}
<main><h1>Kasse</h1><p>Gesamtsumme: <b id=total>1.249,40&nbsp;\u20ac</b></p></main>"""
DRAWN = f"""<!doctype html><html lang=en><title>Your bag</title>{ICON}<main id=root></main><script>
const h = (tag, ...inside) => {{
    const e = document.createElement(tag);
    e.append(...inside);
    return e;
}};
fetch("/api/bag").then((it) => it.json()).then(({{items, total}}) => {{
    const rows = items.map((it) => h("article", h("h3", it.name),
        h("i", "$", it.price.toFixed(2))));
    root.replaceChildren(h("h1", "Your bag"), h("section", ...rows),
        h("p", "Total ", h("strong", "$", total.toFixed(2))));
}});</script>"""
BAG = {
    "items": [{"id": 3, "name": "Lamp", "price": 49.5}, {"id": 8, "name": "Desk", "price": 220.0}],
    "total": 269.5,
}


def serve(site: Origin, pages: dict[str, str]) -> None:
    for path, body in pages.items():
        kind = (b"Content-Type", b"application/json") if body.startswith("{") else HTML
        site.routes[path] = Answer(headers=[kind], body=body.encode())


def visited(browser: Browser, lane: Lane) -> Page:
    context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
    context.set_default_timeout(10_000)
    return context.new_page()


def once(fault: Fault, **match: Any) -> Scenario:
    return scenario(fault, Trigger(first=1), match=match)


def cents(page: Page, selector: str) -> int:
    return int("".join(it for it in page.locator(selector).inner_text() if it.isdigit()))


# ---- item_gone


def test_what_is_gone_no_longer_counts_in_a_basket_and_on_the_next_page(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    serve(site, {"/cart": BASKET, "/checkout": NEXT, "/p/2": "<h1>Seil</h1>"})
    with lane_to(begin, site, once(ItemGone(), url="*/p/*")) as lane:
        page = visited(browser, lane)
        answer = page.goto(f"{SITE}/p/1")
        assert answer is not None
        assert answer.status == 404
        page.goto(f"{SITE}/cart")
        expect(page.get_by_text("Nicht mehr verf\u00fcgbar")).to_be_visible()
        assert [cents(page, f"#{it}") for it in ("sub", "ship", "total")] == [1000, 490, 1490]
        expect(page.locator(".line b").first).to_have_css("text-decoration-line", "line-through")
        wait_until(lambda: len(lane.events(FaultDelivered)) == 2)
        page.goto(f"{SITE}/checkout")
        wait_until(lambda: cents(page, "#total") == 1490)
        page.goto(f"{SITE}/p/2")
        expect(page.get_by_role("heading", name="Seil")).to_be_visible()
        wait_until(lambda: len(lane.events(FaultDelivered)) == 3)
        page.context.close()
    changes = [(it.where, it.before, it.after) for it in lane.events(FaultDelivered)[1].changes]
    assert ("item", "Zelt", "Nicht mehr verf\u00fcgbar") in changes
    assert not lane.events(HarnessBroke)


@pytest.mark.slow
def test_a_basket_that_scripts_draw_lacks_what_is_gone(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    serve(site, {"/bag": DRAWN, "/api/bag": json.dumps(BAG)})
    with lane_to(begin, site, once(ItemGone(), url="*/api/products/*")) as lane:
        page = visited(browser, lane)
        page.goto(f"{SITE}/bag")
        expect(page.locator("article")).to_have_count(2)
        assert page.evaluate("fetch('/api/products/3').then((it) => it.status)") == 404
        page.reload()
        expect(page.locator("article")).to_have_count(1)
        expect(page.locator("strong")).to_have_text("$220.00")
        page.context.close()
    assert not lane.events(HarnessBroke)
