"""What a dark pattern puts into a basket adds up wherever it is shown, and can be removed."""

import json
import re
import urllib.request
from collections.abc import Iterable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.site import ICON, lane_to, opened, reported_changes
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, RequestSeen
from warex_testbed.server import Testbed

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SNEAKED = scenario(DarkPattern(pattern="sneaked_item"), trigger=Trigger(always=True))
TITLES = ("Protection plan, 2 years", "Gift wrapping", "Charity donation")
GERMAN = ("Schutzbrief, 2 Jahre", "Geschenkverpackung", "Spende")

SERVER = f"""<!doctype html><html lang=de><meta charset=utf-8><title>Warenkorb</title>{ICON}
<header><a href=/>Bergladen</a> <a href=/basket>Warenkorb (2)</a></header>
<main><h1>Warenkorb</h1>
<div class=lines>
<div class=line><a href=/p/1>Zelt</a> <span>1.234,50&nbsp;\u20ac</span>
<form method=post action=/basket/remove/1><button>Entfernen</button></form></div>
<div class=line><a href=/p/2>Seil</a> <span>10,00&nbsp;\u20ac</span>
<form method=post action=/basket/remove/2><button>Entfernen</button></form></div>
</div>
<dl><dt>Zwischensumme</dt><dd id=sub>1.244,50&nbsp;\u20ac</dd>
<dt>Versand</dt><dd>4,90&nbsp;\u20ac</dd>
<dt>Gesamtsumme</dt><dd id=total>1.249,40&nbsp;\u20ac</dd></dl>
<a href=/next>Zur Kasse</a></main>"""
NEXT = f"""<!doctype html><html lang=de><meta charset=utf-8><title>Kasse</title>{ICON}
<main><h1>Kasse</h1><p>Gesamtsumme: <b id=total>1.249,40&nbsp;\u20ac</b></p>
<form method=post action=/done><input name=email type=email><button>Kaufen</button></form></main>"""
SPA = f"""<!doctype html><html lang=en><meta charset=utf-8><title>Your bag</title>{ICON}
<main id=root></main><script>
const h = (tag, ...inside) => {{
    const e = document.createElement(tag);
    e.append(...inside);
    return e;
}};
const draw = async () => {{
    const {{items, subtotal, total}} = await (await fetch("/api/bag")).json();
    const rows = items.map((it) => {{
        const button = h("button", "Remove");
        button.onclick = () => fetch(`/api/bag/${{it.id}}`, {{method: "DELETE"}}).then(draw);
        const row = h("article", h("h3", it.name), h("span", "$", it.price.toFixed(2)), button);
        row.className = "css-1x2y";
        return row;
    }});
    root.replaceChildren(h("h1", "Your bag"), h("section", ...rows),
        h("p", "Subtotal ", h("b", "$", subtotal.toFixed(2))),
        h("p", "Total ", h("strong", "$", total.toFixed(2))));
}};
draw();</script>"""
BAG = {
    "items": [{"id": 3, "name": "Lamp", "price": 49.5}, {"id": 8, "name": "Desk", "price": 220.0}],
    "subtotal": 269.5,
    "total": 269.5,
}


def served(site: Origin, **pages: str) -> None:
    for path, body in pages.items():
        kind = b"application/json" if body.startswith("{") else b"text/html; charset=utf-8"
        answer = Answer(headers=[(b"Content-Type", kind)], body=body.encode())
        site.routes[f"/{path.replace('_', '/')}"] = answer


def in_cents(text: str) -> int:
    return int("".join(it for it in text if it.isdigit()))


def amounts_to(page: Page, selector: str, cents: int) -> None:
    wait_until(lambda: in_cents(page.locator(selector).inner_text()) == cents)


def one_of(texts: Iterable[str]) -> re.Pattern[str]:
    return re.compile("^(?:" + "|".join(map(re.escape, texts)) + ")$")


def test_a_basket_that_a_server_draws_adds_up_here_and_on_the_next_page(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    served(site, basket=SERVER, next=NEXT)
    with lane_to(begin, site, SNEAKED) as lane:
        page = opened(browser, lane, "basket")
        expect(page.locator(".line")).to_have_count(3)
        line = page.locator(".line").nth(2)
        wait_until(lambda: lane.events(FaultDelivered))
        expect(line.locator("a")).to_have_text(one_of(GERMAN))
        expect(line.locator("form")).to_have_count(0)
        price = in_cents(line.locator("span").inner_text())
        amounts_to(page, "#sub", 124450 + price)
        amounts_to(page, "#total", 124940 + price)
        expect(page.locator("#total")).to_have_text(re.compile(r"^1\.2"))
        page.get_by_role("link", name="Zur Kasse").click()
        expect(page.get_by_role("heading", name="Kasse")).to_be_visible()
        amounts_to(page, "#total", 124940 + price)
        page.go_back()
        page.locator(".line").nth(2).get_by_role("button", name="Entfernen").click()
        expect(page.locator(".line")).to_have_count(2)
        amounts_to(page, "#total", 124940)
        wait_until(lambda: ("removed", "") in reported_changes(lane))
        page.goto("https://shop.example/next")
        page.wait_for_timeout(500)
        amounts_to(page, "#total", 124940)
        page.context.close()
    assert not lane.events(HarnessBroke)


@pytest.mark.parametrize(
    ("body", "total", "least"),
    [
        ("<h1>\u30ab\u30fc\u30c8</h1><ul><li>\u76bf \u00a51,200<li>\u92fc \u00a5900</ul>"
         "<p>\u5408\u8a08 <b id=t>\u00a52,100</b></p>", 2100, 100),
        ("<h1>\u05e2\u05d2\u05dc\u05ea \u05e7\u05e0\u05d9\u05d5\u05ea</h1>"
         "<ul><li>\u05db\u05d5\u05e1 "
         "\u20aa45.00</ul><p>\u05e1\u05d4\u05f4\u05db <b id=t>\u20aa45.00</b></p>", 4500, 100),
        ("<h1>Cart</h1><ul><li>Pot $20<sup>90</sup></ul><p>Total <b id=t>$20<sup>90</sup></b></p>",
         2090, 100),
    ],
)  # fmt: skip
def test_a_price_is_written_as_the_shop_writes_its_own(
    browser: Browser, begin: Begin, site: Origin, body: str, total: int, least: int
) -> None:
    served(site, shop=f"<!doctype html><meta charset=utf-8><title>t</title>{ICON}{body}")
    with lane_to(begin, site, SNEAKED) as lane:
        page = opened(browser, lane, "shop")
        wait_until(lambda: lane.events(FaultDelivered))
        wait_until(lambda: in_cents(page.locator("#t").inner_text()) >= total + least)
        page.context.close()


def test_a_sneaked_item_is_in_a_scripted_basket_and_can_be_removed(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    served(site, bag=SPA, api_bag=json.dumps(BAG))
    with lane_to(begin, site, SNEAKED) as lane:
        page = opened(browser, lane, "bag")
        expect(page.locator("article")).to_have_count(3)
        wait_until(lambda: ("shown", "") in reported_changes(lane))
        shown = page.locator("strong").inner_text()
        answer = page.evaluate("fetch('/api/bag').then((it) => it.json())")
        assert shown == f"${answer['total']:.2f}"
        assert answer["total"] == round(sum(it["price"] for it in answer["items"]), 2) > 269.5
        expect(page.locator("h3").nth(2)).to_have_text(one_of(TITLES))
        page.reload()
        expect(page.locator("article")).to_have_count(3)
        expect(page.locator("strong")).to_have_text(shown)
        wait_until(lambda: len(lane.events(FaultDelivered)) >= 3)
        page.wait_for_timeout(600)
        page.locator("article").nth(2).get_by_role("button").click()
        expect(page.locator("article")).to_have_count(2)
        expect(page.locator("strong")).to_have_text("$269.50")
        assert page.evaluate("fetch('/api/bag').then((it) => it.json())") == BAG
        wait_until(lambda: "removed" in dict(reported_changes(lane)))
        page.context.close()
    assert not lane.events(HarnessBroke)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("<h1>Cart</h1><p>Your cart is empty.</p><p>Total <b>$0.00</b></p>", "no basket"),
        ("<h1>Pots</h1><ul><li>Pot $3.00<li>Pan $4.00</ul><p>Total $7.00</p>", "no basket"),
        ("<h1>Cart</h1><ul><li>Pot $3.00<li>Pan $4.00</ul><p>Total $9.00</p>", "no basket"),
        (
            "<h1>Cart</h1><ul><li>Pot $3.00<li>Pan $4.00</ul><p>Subtotal $7.00</p>"
            "<p>Total $9.00</p>",
            "more than its parts",
        ),
    ],
)
def test_a_page_without_a_basket_that_adds_up_is_missed_with_the_reason(
    browser: Browser, begin: Begin, site: Origin, body: str, why: str
) -> None:
    served(site, pots=f"<!doctype html><title>t</title>{ICON}<main>{body}</main>")
    with lane_to(begin, site, SNEAKED) as lane:
        page = opened(browser, lane, "pots")
        wait_until(lambda: lane.events(FaultMissed) or reported_changes(lane))
        page.context.close()
    [(what, reported)] = reported_changes(lane)
    assert what == "nothing"
    assert why in reported
    assert {it.reason for it in lane.events(FaultMissed)} == {"nothing_to_rewrite"}


@pytest.mark.parametrize(
    ("body", "is_met"),
    [
        ("<form action=/search><input name=q><button>Search</button></form>", False),
        ("<form role=search><input name=email><button>Go</button></form>", False),
        ("<form method=get><select name=sort><option>Price</select><button>Go</button></form>",
         False),
        ("<form method=post action=/login><input name=email type=email>"
         "<input type=password name=p><button>Log in</button></form>", False),
        ("<form method=post><input name=email type=email><button>Unsubscribe</button></form>",
         False),
        ("<form method=post><input name=qty value=1><button>Update</button></form>", False),
        ("<form method=post action=/join><input name=name><input type=email name=m>"
         "<input type=password name=p><button>Join</button></form>", True),
        ("<form method=post><input name=cardnumber autocomplete=cc-number>"
         "<button>Go</button></form>", True),
        ("<form method=post><input name=note><button>Jetzt kaufen</button></form>", True),
        ("<form action=/search><input name=q></form>"
         "<form method=post><input name=street><button>Next</button></form>", True),
    ],
)  # fmt: skip
def test_a_box_is_ticked_before_only_where_money_or_data_is_given(
    browser: Browser, begin: Begin, site: Origin, body: str, is_met: bool
) -> None:
    served(site, form=f"<!doctype html><title>t</title>{ICON}<main>{body}</main>")
    with lane_to(begin, site, scenario(DarkPattern(pattern="preticked_box"))) as lane:
        page = opened(browser, lane, "form")
        wait_until(lambda: reported_changes(lane))
        expect(page.locator("form").last.get_by_role("checkbox")).to_have_count(int(is_met))
        page.context.close()
    assert [what for what, _ in reported_changes(lane)] == ["shown" if is_met else "nothing"]


CHOSEN = {
    "shop.warex.test": {"product": "1", "Colour": "Violet"},
    "market.warex.test": {"product": "2"},
    "outfitters.warex.test": {"product": "1", "Color": "Pine", "Size": "M"},
}


def is_shown_on(lane: Lane, url: str, visit: int = 1) -> bool:
    """Return whether the fault was shown on one of the visits to a page."""
    visits = [it.exchange for it in lane.events(RequestSeen) if it.top_level and it.url == url]
    shown = {it.exchange for it in lane.events(FaultDelivered)}
    return len(visits) >= visit and visits[visit - 1] in shown


@pytest.mark.parametrize("host", ["shop.warex.test", "market.warex.test", "outfitters.warex.test"])
def test_every_shop_of_the_testbed_has_a_basket_that_adds_up(
    browser: Browser, begin: Begin, host: str
) -> None:
    site = f"http://{host}"
    with Testbed() as bed:

        def add(item: dict[str, str]) -> None:
            request = urllib.request.Request(
                f"http://127.0.0.1:{bed.port}/api/cart",
                headers={"host": host, "content-type": "application/json"},
                data=json.dumps({"quantity": "2", **item}).encode(),
            )
            with urllib.request.urlopen(request, timeout=30):
                pass

        maps = (f"{site}=http://127.0.0.1:{bed.port}",)
        with begin(scenario=SNEAKED, maps=maps, sites=(site,)) as lane:
            page = browser.new_context(proxy={"server": lane.url}).new_page()
            page.goto(f"{site}/cart")
            wait_until(lambda: reported_changes(lane))
            add(CHOSEN[host])
            page.goto(f"{site}/cart")
            lines = page.locator("li.line")
            added = lines.filter(has_text=re.compile("|".join(TITLES)))
            expect(added).to_have_count(1)
            # Some of the shops have something in the basket from the beginning.
            wait_until(lambda: is_shown_on(lane, f"{site}/cart", 2))
            sums = [in_cents(it) for it in page.locator("li.line .line-total").all_inner_texts()]
            shown = page.locator(".sum-card").inner_text()
            amounts = [int(it.replace(".", "")) for it in re.findall(r"[0-9]+\.[0-9]{2}", shown)]
            assert sum(sums) in amounts
            page.goto(f"{site}/checkout/1")
            wait_until(lambda: is_shown_on(lane, f"{site}/checkout/1"))
            again = page.locator(".sum-card").inner_text()
            assert sum(sums) in [
                int(it.replace(".", "")) for it in re.findall(r"[0-9]+\.[0-9]{2}", again)
            ]
            page.goto(f"{site}/cart")
            added.get_by_role("button").last.click()
            expect(added).to_have_count(0)
            wait_until(lambda: "removed" in dict(reported_changes(lane)))
            page.context.close()
        assert not lane.events(HarnessBroke)
