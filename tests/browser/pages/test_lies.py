"""Lies in real Chromium: the page shows what the site never said, and the trace has the key."""

import json

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages.site import ICON, lane_to, opened, reported_changes
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.lies.empty_result import EmptyResult
from warex.faults.lies.json_corruption import JsonCorruption
from warex.faults.lies.lost_write import LostWrite
from warex.faults.lies.partial_list import PartialList
from warex.faults.lies.soft_error import SoftError
from warex.faults.lies.text_corruption import TextCorruption
from warex.traces import ChangedValue, FaultDelivered, FaultMissed, HarnessBroke

pytestmark = pytest.mark.browser

ITEMS = [{"name": name, "price": 10.5} for name in ("Red", "Green", "Blue")]
SHOP = f"""<!doctype html><title>Shop</title>{ICON}<ul></ul><script>
fetch("/items.json").then((answer) => answer.json()).then(({{items}}) => {{
    for (const item of items) {{
        const line = document.createElement("li");
        line.textContent = `${{item.name}} ${{item.price}}`;
        document.querySelector("ul").append(line);
    }}
    document.title = "Ready";
}});</script>"""


@pytest.fixture(scope="module", autouse=True)
def shop(site: Origin) -> None:
    def answer(kind: str, body: str) -> Answer:
        return Answer(headers=[(b"Content-Type", kind.encode())], body=body.encode())

    site.routes["/shop"] = answer("text/html", SHOP)
    site.routes["/items.json"] = answer("application/json", json.dumps({"items": ITEMS}))


def changes(lane: Lane) -> list[ChangedValue]:
    wait_until(lambda: lane.events(FaultDelivered))
    assert not lane.events(HarnessBroke)
    return lane.events(FaultDelivered)[0].changes


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (JsonCorruption(at="/items/1/price"), ["Red 10.5", "Green 11.5", "Blue 10.5"]),
        (EmptyResult(), []),
        (PartialList(), ["Red 10.5", "Blue 10.5"]),
    ],
    ids=lambda it: it.kind if isinstance(it, Fault) else "",
)
def test_a_page_drawn_by_scripts_shows_the_lie(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, shown: list[str]
) -> None:
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, "shop")
        expect(page).to_have_title("Ready")
        expect(page.get_by_role("listitem")).to_have_text(shown)
        fields = {it.where: (it.before, it.after) for it in changes(lane)}
        page.context.close()

    if isinstance(fault, JsonCorruption):
        assert fields == {"/items/1/price": ("10.5", "11.5")}
    else:
        assert len(fields) == 3 - len(shown)


@pytest.mark.slow
def test_a_write_that_was_never_made_is_said_to_be_saved(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    form = f"{ICON}<form method=post action=/save><input name=a value=1><button>Go</button></form>"
    site.routes["/form"] = Answer(headers=[(b"Content-Type", b"text/html")], body=form.encode())
    with lane_to(begin, site, scenario(LostWrite(), match={"method": ["POST"]})) as lane:
        page = opened(browser, lane, "form")
        page.get_by_role("button").click()
        expect(page.get_by_role("status")).to_be_visible()
        sent = """fetch("/save", {method: "POST", body: JSON.stringify({name: "Red"})})
            .then((answer) => answer.json())"""
        assert page.evaluate(sent).items() >= {"name": "Red", "success": True}.items()
        page.get_by_role("link", name="Back").click()
        expect(page.get_by_role("button", name="Go")).to_be_visible()
        page.context.close()

    assert not [seen for seen in site.seen if seen.target == "/save"]


def test_an_error_says_200(browser: Browser, begin: Begin, site: Origin) -> None:
    with lane_to(begin, site, scenario(SoftError(), match={"resource": ["xhr"]})) as lane:
        page = opened(browser, lane, "plain")
        asked = "fetch('/items.json').then(async (it) => [it.status, await it.json()])"
        status, answer = page.evaluate(asked)
        page.context.close()

    assert status == 200
    assert answer.keys() & {"error", "message"}


def test_a_price_that_scripts_draw_stays_false_as_often_as_they_draw_it(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    page = (
        f"<!doctype html><title>t</title>{ICON}<p hidden>$5</p><p id=p></p><script>"
        "let n = 0; const draw = () => { p.textContent = `$12.50 (${n++})`; };"
        "setTimeout(draw, 50); onclick = draw;</script>"
    )
    html = [(b"Content-Type", b"text/html")]
    site.routes["/drawn"] = Answer(headers=html, body=page.encode())
    with lane_to(begin, site, scenario(TextCorruption())) as lane:
        shown = opened(browser, lane, "drawn")
        expect(shown.locator("#p")).to_have_text("$13.50 (0)")
        shown.mouse.click(5, 5)
        expect(shown.locator("#p")).to_have_text("$13.50 (1)")
        (reported,) = changes(lane)
        shown.context.close()

    assert (reported.where, reported.before, reported.after) == ("price 1", "$12.50", "$13.50")


SPLIT = f"""<!doctype html><title>Shop</title>{ICON}
<style>.f {{ display: flex }} .off {{ position: absolute; clip-path: inset(50%); width: 1px;
height: 1px; overflow: hidden; white-space: nowrap }} sup {{ font-size: 60% }}</style>
<p id=nodes></p>
<p id=comment>$<!-- -->129.90</p>
<p id=sup>$129<sup>90</sup></p>
<p id=flex class=f><span>$</span><span>1</span><span>,</span><span>299</span><span>.90</span></p>
<p id=twice><span class=off>$129.90</span><span aria-hidden=true><span>$</span><span>129<span
>.</span></span><span>90</span></span></p>
<p id=covered style="font-size: 12px"><span class=off>$129.90</span><b>$</b>129.90</p>
<p id=label><span aria-label="Price: $129.90"><b>$</b><i>129.90</i></span></p>
<p id=euro><span>129</span><span>,</span><span>90</span> <span>\u20ac</span></p>
<my-price id=shadow></my-price>
<p id=word>Total <b>129,90\u00a0\u20ac</b></p>
<p id=shekel>\u20aa<b>129.90</b></p>
<p id=other>3<span> of 5</span><br>$<b>5</b></p>
<script>
nodes.append("$", "129.90");
shadow.attachShadow({{mode: "open"}}).innerHTML = "<span>$</span><span>129.90</span>";
</script>"""


@pytest.mark.slow
def test_a_price_in_several_nodes_is_one_price(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    html = [(b"Content-Type", b"text/html; charset=utf-8")]
    site.routes["/split"] = Answer(headers=html, body=SPLIT.encode())
    with lane_to(begin, site, scenario(TextCorruption(count=20))) as lane:
        page = opened(browser, lane, "split")
        reported = [(it.before, it.after) for it in changes(lane)]
        shown = {
            name: page.locator(f"#{name}").evaluate("it => (it.shadowRoot || it).textContent")
            for name in (
                "nodes",
                "comment",
                "sup",
                "flex",
                "twice",
                "covered",
                "label",
                "euro",
                "shadow",
                "word",
                "shekel",
            )
        }
        label = page.locator("#label span").get_attribute("aria-label")
        other = page.locator("#other").inner_text()
        page.context.close()

    assert shown == {
        "nodes": "$128.90",
        "comment": "$128.90",
        "sup": "$12890",
        "flex": "$1,298.90",
        "twice": "$128.90$128.90",
        "covered": "$128.90$128.90",
        "label": "$128.90",
        "euro": "128,90 \u20ac",
        "shadow": "$128.90",
        "word": "Total 128,90\u00a0\u20ac",
        "shekel": "\u20aa128.90",
    }
    assert label == "Price: $128.90"
    assert other == "3 of 5\n$6"
    assert reported == [
        *[("$129.90", "$128.90")] * 3,
        ("$1,299.90", "$1,298.90"),
        *[("$129.90", "$128.90")] * 3,
        ("129,90 \u20ac", "128,90 \u20ac"),
        ("$129.90", "$128.90"),
        ("129,90\u00a0\u20ac", "128,90\u00a0\u20ac"),
        ("\u20aa129.90", "\u20aa128.90"),
        ("$5", "$6"),
    ]


def test_a_price_that_is_drawn_on_a_canvas_is_missed_and_the_trace_says_so(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    drawn = (
        f"<!doctype html><title>t</title>{ICON}<canvas id=c width=300 height=200></canvas>"
        "<script>c.getContext('2d').fillText('$12.50', 20, 20)</script>"
    )
    site.routes["/canvas"] = Answer(headers=[(b"Content-Type", b"text/html")], body=drawn.encode())
    with lane_to(begin, site, scenario(TextCorruption())) as lane:
        page = opened(browser, lane, "canvas")
        wait_until(lambda: reported_changes(lane))
        page.context.close()

    [(what, why)] = reported_changes(lane)
    assert (what, "canvas" in why) == ("nothing", True)
    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]


def test_a_page_shows_a_price_that_is_not_the_true_one(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    page = f"<!doctype html><title>$1</title>{ICON}<p>Price: \u20ac 12,50</p>".encode()
    site.routes["/price"] = Answer(
        headers=[(b"Content-Type", b"text/html; charset=utf-8")], body=page
    )
    with lane_to(begin, site, scenario(TextCorruption())) as lane:
        page_shown = opened(browser, lane, "price")
        expect(page_shown.get_by_text("Price: \u20ac 13,50")).to_be_visible()
        (reported,) = changes(lane)
        page_shown.context.close()

    assert (reported.before, reported.after) == ("\u20ac 12,50", "\u20ac 13,50")
