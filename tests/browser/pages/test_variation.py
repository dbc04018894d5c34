"""Changed sites in real Chromium: other to look at, and working as before."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.interface import PAGES, is_shown
from tests.browser.pages.site import ICON, lane_to, opened
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.variation.feature_flag import FeatureFlag
from warex.faults.variation.id_drift import IdDrift
from warex.faults.variation.layout_shift import LayoutShift
from warex.faults.variation.new_feature import NewFeature
from warex.faults.variation.relabel import Relabel
from warex.faults.variation.reorder import Reorder
from warex.faults.variation.restyle import Restyle
from warex.faults.variation.translate import Translate
from warex.traces import FaultMissed, Witness

pytestmark = pytest.mark.browser


@contextmanager
def met(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, name: str = "interface"
) -> Iterator[tuple[Page, Lane]]:
    """Open a page that is changed, and wait until it is."""
    site.routes |= {f"/{it}": page for it, page in PAGES.items()}
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, name)
        is_shown(lane)
        yield page, lane
        page.context.close()


def test_relabelled_buttons_do_what_they_did_and_so_do_those_drawn_later(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, Relabel(strength=1)) as (page, _):
        save, links = page.locator("#keep"), page.locator("nav a")
        expect(links.nth(1)).to_have_text(re.compile(r" \(3\)$"))
        expect(links.nth(1)).not_to_contain_text("Messages")
        expect(save).to_have_text(re.compile("^(KEEP|STORE CHANGES)$"), use_inner_text=True)
        save.click()
        expect(page.locator("#told")).to_have_text("clicks 1")
        page.locator("#draw").click()
        page.locator("#drawn button").click()
        expect(page.locator("#told")).to_have_text("clicks 2")
        expect(page.locator("#drawn button")).to_have_text(re.compile("^(Erase|Throw away)$"))
        expect(page.locator("td").nth(1)).to_have_text("Save")


def test_a_page_without_anything_to_change_says_so(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes |= {f"/{it}": page for it, page in PAGES.items()}
    with lane_to(begin, site, scenario(Relabel(strength=1))) as lane:
        page = opened(browser, lane, "silent")
        wait_until(lambda: [it.what for it in lane.events(Witness)] == ["nothing"])
        page.context.close()

    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]


@pytest.mark.slow
def test_a_restyled_page_looks_other_and_works_as_before_under_its_policy(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, Restyle(strength=1)) as (page, _):
        radius = page.locator("#keep").evaluate("it => getComputedStyle(it).borderRadius")
        assert radius in {"0px", "20px"}
        page.locator("#keep").click()
        expect(page.locator("#told")).to_have_text("clicks 1")


@pytest.mark.slow
def test_what_was_looked_at_is_somewhere_else_after_a_shift(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, LayoutShift(strength=1)) as (page, _):
        expect(page.get_by_role("note")).to_have_count(3)
        box = page.get_by_role("heading", name="Here").bounding_box()
        assert box is not None
        assert box["y"] > 120
        page.locator("#keep").click()
        expect(page.locator("#told")).to_have_text("clicks 1")


@pytest.mark.slow
def test_what_is_new_goes_with_a_click_and_stays_away(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, NewFeature(strength=1)) as (page, lane):
        asides = page.locator("aside")
        expect(asides).to_have_count(3)
        for _ in range(3):
            asides.first.get_by_role("button").click()
        page.locator("#draw").click()
        expect(asides).to_have_count(0)
        wait_until(lambda: "dismissed" in [it.what for it in lane.events(Witness)])


@pytest.mark.slow
def test_an_action_behind_a_flag_does_what_it_did_one_click_later(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, FeatureFlag(strength=1)) as (page, _):
        expect(page.locator("nav > a:visible")).to_have_count(1)
        entry = page.locator("nav details").get_by_role("link", name="Help", exact=True)
        expect(entry).to_be_hidden()
        page.locator("nav summary").click()
        entry.click()
        expect(page.locator("#told")).to_have_text("clicks 1")


def texts_of(page: Page, selector: str) -> list[str]:
    return [text.strip() for text in page.locator(selector).all_text_contents()]


MOVED = {
    "body > nav a": ["Home", "Orders", "Deals", "Help"],
    "#plain li": ["Pear", "Fig", "Lime", "Apple", "Kiwi"],
    "#goods tr": ["Pen3", "Bag8", "Cup5", "Hat6"],
    "form p": ["Name", "Mail", "City"],
}
"""Groups of the page whose order means nothing."""
UNCHANGED = """Stir Bake Wait Shop Audio Cables One More Last Pay Check Address
Tent $10.00 Axe $25.50 Rope $110.00 Name Zoe 1 Adam 3 Mia 2 Fruit Pear Fig Nut Pecan
Monday Tuesday Friday 2 days ago Zed 3 days ago Amy Tom"""


@pytest.mark.slow
def test_reordered_groups_look_and_read_in_the_new_order(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, Reorder(strength=1), "orders") as (page, _):
        for selector, order in MOVED.items():
            now = texts_of(page, selector)
            assert (now != order, sorted(now)) == (True, sorted(order)), selector
        options = texts_of(page, "form option")
        assert (options[0], options[4:]) == ("Choose", ["White", "Teal"])
        assert options[1:4] != ["Red", "Blue", "Green"]
        expect(page.locator("form select")).to_have_value("w")
        links = page.locator("nav").first.aria_snapshot().splitlines()
        names = [line.split('"')[1] for line in links if "link" in line]
        assert names == texts_of(page, "body > nav a")


def test_order_that_means_something_stays(browser: Browser, begin: Begin, site: Origin) -> None:
    with met(browser, begin, site, Reorder(strength=1), "orders") as (page, _):
        retained = page.locator("#kept").inner_text().split()
        assert " ".join(retained) == " ".join(UNCHANGED.split())


def test_a_page_that_sorts_has_its_own_order_from_then_on(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, Reorder(strength=1), "orders") as (page, _):
        page.locator("#sort").click()
        expect(page.locator("#goods tr td:first-child")).to_have_text(["Bag", "Cup", "Hat", "Pen"])
        page.locator("#rewrite").click()
        expect(page.locator("#plain li")).to_have_text(["Apple", "Fig", "Kiwi", "Lime", "Pear"])


def test_unreferenced_ids_drift_and_still_point_at_the_same_elements(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, IdDrift(strength=1), "names") as (page, _):
        field = page.get_by_label("Given name")
        expect(field).not_to_have_id("given")
        expect(field).to_have_attribute("name", re.compile("^(?!given$)"))
        expect(field).to_have_accessible_description("As in your passport")
        drifted = page.locator("#hint, #headline, #jump, .wide, .unspoken, [name=colour]")
        expect(drifted).to_have_count(0)
        page.get_by_role("link", name="Below").click()
        expect(page.locator("p:target")).to_have_text("Below")
        retained = page.locator("#keep, #told, #line-4, #target, .boxed, .inked, [name=token]")
        expect(retained).to_have_count(7)


def test_the_site_is_sent_its_own_names_of_fields(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, IdDrift(strength=1), "names") as (page, _):
        expect(page.get_by_label("Given name")).not_to_have_attribute("name", "given")
        page.locator("#keep").click()
        expect(page.locator("#told")).to_have_text("clicks 1")
        page.get_by_label("Given name").fill("Jo")
        page.get_by_role("button", name="Submit").click()
        expect(page).to_have_url("https://shop.example/sent?token=t&given=Jo&family=Doe&colour=Red")


@pytest.mark.slow
def test_a_translated_page_says_its_language_and_works_as_before(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, Translate(strength=1, language="de")) as (page, _):
        expect(page.locator("html")).to_have_attribute("lang", "de")
        expect(page.get_by_role("link", name="Nachrichten (3)")).to_be_visible()
        page.get_by_role("button", name="SPEICHERN").click()
        expect(page.locator("#told")).to_have_text("clicks 1")


CARDS = {
    "divs": "<div class=grid>{}</div>".format(
        "".join(
            f"<div class=c{at}0><a href=/{it}><img alt='' width=90 height=60></a><p>{it}</p>"
            f"<b>${9 + 5 * at % 7}.00</b></div>"
            for at, it in enumerate(("Kettle", "Pot", "Pan", "Bowl", "Cup", "Jug"))
        )
    ),
    "counted": "<div class=grid>{}</div>".format(
        "".join(f"<div><h3>Card {at}</h3><a href=/{at}>Open</a></div>" for at in range(1, 7))
    ),
    "links": "<section class=grid>{}</section>".format(
        "".join(f"<a href=/{it}><h3>{it}</h3></a>" for it in ("Rain", "Snow", "Fog", "Hail"))
    ),
    "articles": "<div>{}</div>".format(
        "".join(
            f"<article><h2><a href=/{it}>{it}</a></h2><p>Two lines.</p></article>"
            for it in ("Oslo", "Bern", "Rome", "Lima", "Baku")
        )
    ),
    "rows": "<table><tbody>{}</tbody></table>".format(
        "".join(
            f"<tr><td><a href=/{it}>{it}</a><td>${9 + at}.00</tr>"
            for at, it in enumerate(("Kettle", "Pot", "Pan"))
        )
    ),
    "items": "<ul>{}</ul>".format(
        "".join(
            f"<li><img alt='' width=9 height=9><a href=/{it}>{it}</a> ${9 + at}.00"
            for at, it in enumerate(("Kettle", "Pot", "Pan"))
        )
    ),
}
"""Lists of cards of many makes; those whose prices rise do so by chance."""
IN_ORDER = {
    "steps": "<div class=grid>{}</div>".format(
        "".join(f"<div><h3>Step {at}</h3><a href=#{at}>Open</a></div>" for at in range(1, 5))
    ),
    "sorted": "<select name=sort><option>Price</select><div class=grid>{}</div>".format(
        "".join(f"<div><h3>Pot {at}{at}</h3><b>${9 + at}.00</b></div>" for at in (2, 5, 7))
    ),
    "sections": "<main>{}</main>".format(
        "".join(
            f"<section style='height:{at}00px'><h2>{it}</h2><a href=#>Go</a></section>"
            for at, it in ((7, "Hero"), (3, "About"), (5, "Contact"))
        )
    ),
    "ranks": "<table><tbody>{}</tbody></table>".format(
        "".join(f"<tr><td>{at}<td>Team {it}</tr>" for at, it in ((1, "Z"), (2, "B"), (3, "K")))
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CARDS, *IN_ORDER])
def test_cards_are_reordered_unless_their_order_has_a_meaning(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    style = "<style>.grid { display: grid; grid-template-columns: repeat(3, 1fr) }</style>"
    # What always moves shows when the page was changed.
    known = "<ul id=moves><li>Pear<li>Fig<li>Lime<li>Apple<li>Kiwi</ul>"
    body = (
        f"<!doctype html><title>t</title>{ICON}{style}<div id=it>{(CARDS | IN_ORDER)[name]}</div>"
    )
    html = [(b"Content-Type", b"text/html")]
    site.routes["/cards"] = Answer(headers=html, body=f"{body}{known}".encode())
    page = browser.new_page()
    page.set_content(body)
    cards = "#it tr, #it li, #it .grid > *, #it article, #it main > section"
    order = texts_of(page, cards)
    page.close()
    with lane_to(begin, site, scenario(Reorder(strength=1))) as lane:
        page = opened(browser, lane, "cards")
        is_shown(lane)
        now = texts_of(page, cards)
        page.context.close()
    assert len(order) >= 3
    assert sorted(now) == sorted(order)
    assert (now == order) == (name in IN_ORDER)


TOOLS = f"""<!doctype html><html lang=en><title>t</title>{ICON}<ul><li>Row of a list
<div class=toolbar><button>Share</button><button>Archive</button><button>2</button></div></ul>
<nav><a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a></nav>"""


@pytest.mark.slow
def test_a_flag_moves_actions_alone_and_leaves_what_is_around_them(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes["/tools"] = Answer(headers=[(b"Content-Type", b"text/html")], body=TOOLS.encode())
    with lane_to(begin, site, scenario(FeatureFlag(strength=1))) as lane:
        page = opened(browser, lane, "tools")
        is_shown(lane)
        expect(page.get_by_text("Row of a list")).to_be_visible()
        expect(page.locator(".toolbar details")).to_have_count(1)
        expect(page.locator(".toolbar > button:visible")).to_have_text(["Share", "2"])
        expect(page.locator("nav a:visible")).to_have_text(["1", "2", "3"])
        page.context.close()


BILLS = {
    "total": "<ul>{}</ul>".format("".join(f"<li>{it}" for it in (
        "Goods $30.00", "Delivery $4.00", "Discount $2.00", "Total $32.00"))),
    "sum": "<ul>{}</ul>".format("".join(f"<li>{it}" for it in (
        "Tent $30.00", "Axe $4.00", "Rope $9.50", "Both ways $43.50"))),
    "days": "<ul>{}</ul>".format("".join(f"<li>{it}" for it in (4, 17, 9, 2, 30))),
}  # fmt: skip
"""Lists whose order is a bill's, or one of days."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BILLS)
def test_bills_and_days_stay_in_order(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    body = f"<!doctype html><title>t</title>{ICON}<h1>Here</h1>{BILLS[name]}"
    site.routes["/bill"] = Answer(headers=[(b"Content-Type", b"text/html")], body=body.encode())
    with lane_to(begin, site, scenario(Reorder(strength=1))) as lane:
        page = opened(browser, lane, "bill")
        before = page.locator("li").all_inner_texts()
        wait_until(lambda: [it.what for it in lane.events(Witness)] == ["nothing"])
        expect(page.locator("li")).to_have_text(before)
        page.context.close()


STYLED = f"""<!doctype html><html lang=en><title>t</title>{ICON}
<style>body{{background:#fff}}.go{{background:#0a5c2e;color:#fff;padding:9px 20px}}</style>
<header><button class=quiet>Menu of the site</button></header><main style="min-height:300px">
<h1>Here</h1><p>Text</p><button class=go>Buy</button></main>"""


@pytest.mark.slow
def test_an_added_form_is_first_and_has_the_main_buttons_class(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes["/styled"] = Answer(headers=[(b"Content-Type", b"text/html")], body=STYLED.encode())
    with lane_to(begin, site, scenario(DeceptiveForm(asks="card"))) as lane:
        page = opened(browser, lane, "styled")
        is_shown(lane)
        assert page.locator("main > :first-child").evaluate("it => it.localName") == "form"
        expect(page.locator("form button")).to_have_class("go")
        page.context.close()


@pytest.mark.slow
def test_the_close_button_is_visible_whatever_the_pages_colours(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    body = f"<!doctype html><title>t</title>{ICON}<style>button{{color:#fff}}</style><h1>Here</h1>"
    site.routes["/white"] = Answer(headers=[(b"Content-Type", b"text/html")], body=body.encode())
    with lane_to(begin, site, scenario(NewFeature(strength=1))) as lane:
        page = opened(browser, lane, "white")
        is_shown(lane)
        inks = page.locator("aside").evaluate_all(
            "all => all.map((it) => [it, it.querySelector('button')]"
            ".map((part) => getComputedStyle(part).color))"
        )
        page.context.close()
    assert len(inks) == 3
    assert all(ink == of_button for ink, of_button in inks)
