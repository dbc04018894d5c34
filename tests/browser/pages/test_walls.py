"""Walls in real Chromium: what stands in place of a page, and how a person gets past it."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from tests.browser.pages.site import ICON, lane_to, opened
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.scripts.javascript_failure import JavascriptFailure
from warex.faults.walls.captcha_wall import CaptchaWall
from warex.faults.walls.consent_wall import ConsentWall
from warex.faults.walls.header_change import HeaderChange
from warex.faults.walls.maintenance_page import MaintenancePage
from warex.faults.walls.rate_limit import RateLimit
from warex.faults.walls.redirect_loop import RedirectLoop
from warex.faults.walls.resource_failure import ResourceFailure
from warex.faults.walls.session_expired import SessionExpired
from warex.faults.walls.slow_page import SlowPage
from warex.faults.walls.wrong_redirect import WrongRedirect
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultPlanned, HarnessBroke, Witness

pytestmark = pytest.mark.browser

SITE = "https://shop.example"
ONCE = Trigger(first=1)
HTML = [(b"Content-Type", b"text/html")]


@pytest.fixture(scope="module", autouse=True)
def shop(site: Origin) -> None:
    styled = f"<!doctype html><title>t</title>{ICON}<link rel=stylesheet href=/s.css><h1>Goods</h1>"
    site.routes["/"] = Answer(headers=HTML, body=f"{ICON}<h1>Start</h1>".encode())
    site.routes["/goods"] = Answer(headers=HTML, body=styled.encode())
    site.routes["/goods?a=1"] = site.routes["/goods"]
    site.routes["/s.css"] = Answer(
        headers=[(b"Content-Type", b"text/css")], body=b"h1 { color: rgb(1, 2, 3) }"
    )


@contextmanager
def visiting(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, trigger: Trigger = ONCE
) -> Iterator[tuple[Lane, Page]]:
    """Give a lane on which the fault is met, and a tab; at the end it was met."""
    with lane_to(begin, site, scenario(fault, trigger=trigger)) as lane:
        context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
        context.set_default_timeout(30_000)
        yield lane, context.new_page()
        context.close()
        wait_until(lambda: lane.events(FaultDelivered))
        assert not lane.events(HarnessBroke)


def test_a_site_under_maintenance_is_back_for_who_asks_again(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with visiting(browser, begin, site, MaintenancePage()) as (_, page):
        answer = page.goto(f"{SITE}/goods")
        assert answer is not None
        assert answer.status == 503
        expect(page.get_by_role("heading")).not_to_have_text("Goods")
        page.reload()
        expect(page.get_by_role("heading", name="Goods")).to_be_visible()


@pytest.mark.slow
def test_another_page_of_the_site_comes(browser: Browser, begin: Begin, site: Origin) -> None:
    with visiting(browser, begin, site, WrongRedirect()) as (_, page):
        page.goto(f"{SITE}/goods")
        expect(page.get_by_role("heading", name="Start")).to_be_visible()
        expect(page).to_have_url(f"{SITE}/")


def test_a_page_is_shown_without_its_styles(browser: Browser, begin: Begin, site: Origin) -> None:
    with visiting(browser, begin, site, ResourceFailure(), Trigger(always=True)) as (_, page):
        page.goto(f"{SITE}/goods")
        expect(page.get_by_role("heading")).not_to_have_css("color", "rgb(1, 2, 3)")


def test_a_page_that_trickles_in_comes_whole(browser: Browser, begin: Begin, site: Origin) -> None:
    with visiting(browser, begin, site, SlowPage(pause=0.002)) as (_, page):
        page.goto(f"{SITE}/goods")
        expect(page.get_by_role("heading", name="Goods")).to_have_css("color", "rgb(1, 2, 3)")


@pytest.mark.slow
def test_a_quota_refuses_pages_until_its_window_is_over(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with visiting(browser, begin, site, RateLimit(window=0.2)) as (lane, page):
        answer = page.goto(f"{SITE}/goods")
        assert answer is not None
        assert answer.status == 429
        wait_until(
            lambda: page.goto(f"{SITE}/") is not None and bool(page.get_by_text("Start").count())
        )
        assert len({it.repeat_of or it.injection for it in lane.events(FaultPlanned)}) == 1


def test_a_loop_ends_with_the_browsers_patience(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with visiting(browser, begin, site, RedirectLoop()) as (lane, page):
        with pytest.raises(Error, match="ERR_TOO_MANY_REDIRECTS"):
            page.goto(f"{SITE}/goods")
        wait_until(lambda: len(lane.events(FaultPlanned)) >= 20)
        assert len({it.repeat_of for it in lane.events(FaultPlanned)}) == 2


@pytest.mark.parametrize("fault", [CaptchaWall(), ConsentWall()], ids=lambda it: it.kind)
def test_one_click_passes_a_wall(
    browser: Browser, begin: Begin, site: Origin, fault: Fault
) -> None:
    with visiting(browser, begin, site, fault) as (lane, page):
        page.goto(f"{SITE}/")
        page.goto(f"{SITE}/goods?a=1")
        expect(page.get_by_text("Goods")).to_have_count(0)
        page.get_by_role("checkbox" if fault.kind == "captcha_wall" else "button").first.click()
        expect(page.get_by_role("heading", name="Goods")).to_be_visible()
        expect(page).to_have_url(f"{SITE}/goods?a=1")
        page.goto(f"{SITE}/")
        expect(page.get_by_role("heading", name="Start")).to_be_visible()
        assert [it.what for it in lane.events(Witness)] == ["cleared"]


def test_any_name_passes_a_login_of_ours(browser: Browser, begin: Begin, site: Origin) -> None:
    with visiting(browser, begin, site, SessionExpired(login="own")) as (_, page):
        page.goto(f"{SITE}/goods")
        page.locator("[name=username]").fill("somebody")
        page.get_by_label("Password").fill("anything")
        page.get_by_role("button").click()
        expect(page.get_by_role("heading", name="Goods")).to_be_visible()
    assert not [seen for seen in site.seen if b"anything" in seen.body]


def test_the_site_is_asked_again_without_its_cookies(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with visiting(browser, begin, site, SessionExpired()) as (_, page):
        context = page.context
        context.add_cookies(
            [{"domain": "shop.example", "path": "/goods", "name": "sid", "value": "1"}]
        )
        page.goto(f"{SITE}/goods")
        expect(page.get_by_role("heading", name="Goods")).to_be_visible()
        assert context.cookies() == []


@pytest.mark.parametrize(
    "fault",
    [
        JavascriptFailure(mode="throw", delay=0),
        JavascriptFailure(mode="truncate", delay=0, stage="response"),
    ],
    ids=lambda it: it.mode,
)
def test_a_broken_script_does_not_do_its_work(
    browser: Browser, begin: Begin, site: Origin, fault: Fault
) -> None:
    site.routes["/lively"] = Answer(
        headers=HTML, body=f"<title>Still</title>{ICON}<script src=/a.js></script>".encode()
    )
    site.routes["/a.js"] = Answer(
        headers=[(b"Content-Type", b"text/javascript")],
        body=b"function go() {\n document.title = 'Lively';\n}\ngo();\n",
    )
    with visiting(browser, begin, site, fault) as (_, page):
        errors: list[Error] = []
        # Playwright marks the function that it is given, which a method does not let it.
        page.on("pageerror", lambda error: errors.append(error))
        page.goto(f"{SITE}/lively")
        wait_until(lambda: page.title() == "Still" and len(errors) == 1)


def test_only_scripts_of_other_sites_do_not_come(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    script = [(b"Content-Type", b"text/javascript")]
    sources = ("/own.js", "https://cdn.shop.example/sub.js", "https://tracker.test/third.js")
    tags = "".join(f"<script src={source}></script>" for source in sources)
    site.routes["/parts"] = Answer(headers=HTML, body=f"{ICON}<title>-</title>{tags}".encode())
    for name in ("own", "sub", "third"):
        body = f"document.title += ' {name}'".encode()
        site.routes[f"/{name}.js"] = Answer(headers=script, body=body)
    hosts = ("shop.example", "cdn.shop.example", "tracker.test")
    maps = tuple(f"https://{it}=http://127.0.0.1:{site.port}" for it in hosts)
    fault = JavascriptFailure(third_party=True, delay=0)
    with begin(scenario=scenario(fault, trigger=Trigger(always=True)), maps=maps) as lane:
        page = opened(browser, lane, "parts")
        expect(page).to_have_title("- own sub")
        page.context.close()
    assert [it.url for it in lane.events(FaultPlanned)] == [sources[2]]


@pytest.mark.parametrize(
    ("fault", "met"),
    [
        pytest.param(HeaderChange(change="cookies"), ("Lively", 0, True), marks=pytest.mark.slow),
        (HeaderChange(change="policy"), ("Still", 1, True)),
        pytest.param(HeaderChange(change="type"), ("", 1, False), marks=pytest.mark.slow),
    ],
    ids=lambda it: it.change if isinstance(it, HeaderChange) else "",
)
def test_a_changed_head_lasts_until_the_page_is_asked_for_again(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, met: tuple[str, int, bool]
) -> None:
    lively = "<h1>Goods</h1><script>document.title = 'Lively'</script>"
    coded = gzip.compress(f"<title>Still</title>{ICON}{lively}".encode())
    more = [(b"Set-Cookie", b"sid=1"), (b"Content-Encoding", b"gzip")]
    site.routes["/head"] = Answer(headers=[*HTML, *more], body=coded)
    with visiting(browser, begin, site, fault) as (_, page):
        for title, cookies, drawn in (met, ("Lively", 1, True)):
            page.goto(f"{SITE}/head")
            expect(page).to_have_title(title)
            assert len(page.context.cookies()) == cookies
            expect(page.get_by_role("heading", name="Goods")).to_have_count(int(drawn))
