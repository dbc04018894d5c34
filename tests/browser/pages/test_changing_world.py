"""A world that changes under its visitor, in real Chromium: what a page shows, and what adds up."""

import asyncio
import json
import re
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.site import ICON, lane_to
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin, Seen
from warex.faults import Fault
from warex.faults.world.cookie_loss import CookieLoss
from warex.faults.world.item_gone import ItemGone
from warex.faults.world.price_change import PriceChange
from warex.faults.world.two_factor import TwoFactor, Way
from warex.faults.world.write_conflict import WriteConflict
from warex.scenarios import Scenario, Trigger
from warex.traces import FaultDelivered, HarnessBroke, Witness
from warex_testbed.server import Testbed

pytestmark = pytest.mark.browser

SITE = "https://shop.example"
HTML = (b"Content-Type", b"text/html; charset=utf-8")
BASKET = f"""<!doctype html><html lang=de><title>Warenkorb</title>{ICON}
<main><h1>Warenkorb</h1><a href="http://[">-</a><div class=lines>
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


CHOSEN = {
    "shop.warex.test": {"product": "1", "Colour": "Violet"},
    "market.warex.test": {"product": "2"},
    "outfitters.warex.test": {"product": "1", "Color": "Pine", "Size": "M"},
}


def page_cents(text: str) -> int:
    return int("".join(it for it in text if it.isdigit()))


def amounts_in(text: str) -> list[int]:
    return [page_cents(it) for it in re.findall(r"[0-9,]+\.[0-9]{2}", text)]


def visited(browser: Browser, lane: Lane) -> Page:
    context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
    context.set_default_timeout(30_000)
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
        wait_until(lambda: len(lane.events(FaultDelivered)) == 3)
        page.goto(f"{SITE}/p/2")
        expect(page.get_by_role("heading", name="Seil")).to_be_visible()
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


# ---- price_change


@pytest.mark.slow
def test_a_price_is_another_one_from_the_basket_on_and_all_of_it_adds_up(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    item = f"<!doctype html><title>Zelt</title>{ICON}<h1>Zelt</h1><p id=p>617,25 \u20ac</p>"
    serve(site, {"/p/1": item, "/cart": BASKET, "/checkout": NEXT})
    with lane_to(begin, site, once(PriceChange(factor=1.1))) as lane:
        page = visited(browser, lane)
        page.goto(f"{SITE}/p/1")
        wait_until(lambda: [it for it in lane.events(Witness) if it.what == "nothing"])
        assert cents(page, "#p") == 61725
        page.goto(f"{SITE}/cart")
        wait_until(lambda: cents(page, "#sub") == 2 * 67898 + 1100)
        expect(page.locator("#total")).to_have_text("1.373,86\u00a0\u20ac")
        expect(page.locator(".line").first).to_contain_text("678,98")
        expect(page.locator(".line b").first).to_have_text("1.357,96\u00a0\u20ac")
        wait_until(lambda: lane.events(FaultDelivered))
        page.goto(f"{SITE}/checkout")
        wait_until(lambda: cents(page, "#total") == 137386)
        page.context.close()
    changes = {(it.where, it.before) for it in lane.events(FaultDelivered)[0].changes}
    assert {("price", "617,25\u00a0\u20ac"), ("total", "1.249,40\u00a0\u20ac")} <= changes
    assert not lane.events(HarnessBroke)


@pytest.mark.slow
def test_what_data_has_changed_is_not_changed_again_by_the_page(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    serve(site, {"/bag": DRAWN, "/api/bag": json.dumps(BAG)})
    with lane_to(begin, site, once(PriceChange(amount=1))) as lane:
        page = visited(browser, lane)
        page.goto(f"{SITE}/bag")
        expect(page.locator("strong")).to_have_text("$271.50")
        wait_until(lambda: [it for it in lane.events(Witness) if it.what == "shown"])
        page.wait_for_timeout(600)
        expect(page.locator("strong")).to_have_text("$271.50")
        expect(page.locator("i")).to_have_text(["$50.50", "$221.00"])
        page.context.close()
    assert not lane.events(HarnessBroke)


@pytest.mark.slow
@pytest.mark.parametrize("host", ["shop.warex.test", "market.warex.test", "outfitters.warex.test"])
def test_every_shop_of_the_testbed_has_other_prices_that_add_up(
    browser: Browser, begin: Begin, host: str
) -> None:
    site = f"http://{host}"
    with Testbed() as bed:
        request = urllib.request.Request(
            f"http://127.0.0.1:{bed.port}/api/cart",
            headers={"host": host, "content-type": "application/json"},
            data=json.dumps({"quantity": "2", **CHOSEN[host]}).encode(),
        )
        with urllib.request.urlopen(request, timeout=30):
            pass
        maps = (f"{site}=http://127.0.0.1:{bed.port}",)
        rule = once(PriceChange(factor=1.1, since="detail"))
        with begin(scenario=rule, maps=maps, sites=(site,)) as lane:
            page = visited(browser, lane)
            page.goto(f"{site}/products/{CHOSEN[host]['product']}")
            wait_until(lambda: [it for it in lane.events(Witness) if it.what == "shown"])
            page.goto(f"{site}/cart")
            wait_until(lambda: len([it for it in lane.events(Witness) if it.what == "shown"]) == 2)
            sums = [page_cents(it) for it in page.locator("li.line .line-total").all_inner_texts()]
            wait_until(lambda: sum(sums) in amounts_in(page.locator(".sum-card").inner_text()))
            page.goto(f"{site}/checkout/1")
            wait_until(lambda: len([it for it in lane.events(Witness) if it.what == "shown"]) == 3)
            wait_until(lambda: sum(sums) in amounts_in(page.locator(".sum-card").inner_text()))
            page.context.close()
        assert not lane.events(HarnessBroke)
        detail, cart = (it.changes for it in lane.events(FaultDelivered)[:2])
        (price,) = {(it.before, it.after) for it in detail}
        assert price in {(it.before, it.after) for it in cart}


# ---- write_conflict, two_factor, cookie_loss

FORM = f"""<!doctype html><title>Note</title>{ICON}<h1>Note</h1>
<form method=post action=/notes/3><input name=text value=a><button>Save</button></form>
<button id=put onclick="fetch('/api/notes/3', {{method: 'PUT', body: '{{}}'}})
.then((it) => document.title = it.status)">Put</button>"""


@pytest.mark.slow
def test_a_form_is_saved_after_its_page_was_loaded_again(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    serve(site, {"/notes/3/edit": FORM, "/notes/3": "<h1>Saved</h1>", "/api/notes/3": "{}"})
    rule = once(WriteConflict(), url="*/notes/*")
    with lane_to(begin, site, rule) as lane:
        page = visited(browser, lane)
        page.goto(f"{SITE}/notes/3/edit")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_be_visible()
        page.locator("p a").click()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="Saved")).to_be_visible()
        page.context.close()
    assert [it.method for it in site.seen if it.target == "/notes/3"].count("POST") == 1
    assert not lane.events(HarnessBroke)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["messages", "banner", "other"])
def test_a_code_is_found_and_typed(browser: Browser, begin: Begin, site: Origin, way: Way) -> None:
    serve(site, {"/account": f"<title>t</title>{ICON}<h1>Account</h1>"})
    with lane_to(begin, site, once(TwoFactor(way=way))) as lane:
        page = visited(browser, lane)
        page.goto(f"{SITE}/account")
        if way == "other":
            page.locator("p a").click()
        else:
            if way == "messages":
                page.locator("p a").click()
            code = re.search(r"code is ([0-9]{6})", page.locator("main").inner_text())
            assert code
            if way == "messages":
                page.locator("p a").click()
            page.get_by_role("textbox").fill(code[1])
        page.get_by_role("button").click()
        expect(page.get_by_role("heading", name="Account")).to_be_visible()
        page.context.close()
    assert [it.what for it in lane.events(Witness)] == ["cleared"]


async def with_session(
    seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Show the visitor's name to who is signed in, and else a login, which gives a session."""
    cookie = seen.header("cookie") or ""
    sets = "Set-Cookie: __Host-sid=2; Path=/; Secure; HttpOnly\r\n" if seen.method == "POST" else ""
    is_known = "sid=" in cookie or bool(sets)
    login = "<form method=post><button>Sign in</button></form>"
    body = f"<title>t</title>{ICON}<h1>{'Anna' if is_known else 'Guest'}</h1>{login}".encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{sets}Content-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)


@pytest.mark.slow
def test_a_visitor_is_signed_out_once_and_can_sign_in_again(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes["/me"] = with_session
    with lane_to(begin, site, once(CookieLoss())) as lane:
        page = visited(browser, lane)
        page.context.add_cookies(
            [
                {"url": SITE, "name": "__Host-sid", "value": "1", "secure": True, "httpOnly": True},
                {"domain": "shop.example", "path": "/me", "name": "cart", "value": "7"},
                {"url": SITE, "name": "theme", "value": "dark"},
            ]
        )
        page.goto(f"{SITE}/me")
        expect(page.get_by_role("heading", name="Guest")).to_be_visible()
        assert [it["name"] for it in page.context.cookies()] == ["theme"]
        page.get_by_role("button").click()
        expect(page.get_by_role("heading", name="Anna")).to_be_visible()
        page.goto(f"{SITE}/me")
        expect(page.get_by_role("heading", name="Anna")).to_be_visible()
        page.context.close()
    (done,) = lane.events(FaultDelivered)
    assert {it.before for it in done.changes} == {"__Host-sid", "cart"}
