"""A service worker that answers with old pages, in real Chromium."""

from functools import partial

import pytest
from playwright.sync_api import Browser

from tests.browser.pages.scripted import changes, heading, lane_with, page_of
from tests.browser.pages.site import ICON, lane_to, opened, reported_changes
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults.browser.stale_service_worker import StaleServiceWorker
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke

pytestmark = pytest.mark.browser


def deploy(site: Origin, version: int) -> None:
    """Let the site have a version of its page, its script and its data."""
    script = f"""fetch("/api").then((it) => it.text()).then((it) => {{
      document.querySelector("h1").textContent = `page ${{document.body.dataset.of}},`
        + ` script {version}, data ${{it}}`; }})"""
    html, code = [(b"Content-Type", b"text/html")], [(b"Content-Type", b"text/javascript")]
    text = f"<!doctype html>{ICON}<body data-of={version}><h1></h1><script src=/app.js></script>"
    site.routes |= {
        "/shop": Answer(headers=html, body=text.encode()),
        "/app.js": Answer(headers=[*code, (b"Cache-Control", b"no-cache")], body=script.encode()),
        "/api": Answer(headers=[(b"Content-Type", b"text/plain")], body=str(version).encode()),
    }


@pytest.mark.slow
def test_a_stale_page_and_script_stay_until_a_forced_reload(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    deploy(site, 1)
    with lane_with(begin, site, StaleServiceWorker()) as lane:
        page = opened(browser, lane, "shop")
        heading(page, "page 1, script 1, data 1")
        wait_until(partial(reported_changes, lane))
        deploy(site, 2)
        page.reload()
        heading(page, "page 1, script 1, data 2")
        noted = changes(lane)
        assert noted[0][0] == "page"
        assert noted[0][1].startswith("as it was ")
        page.context.new_cdp_session(page).send("Page.reload", {"ignoreCache": True})
        heading(page, "page 2, script 2, data 2")
        page.reload()
        heading(page, "page 2, script 2, data 2")
        page.context.close()
    assert {what for what, _ in reported_changes(lane)} == {"nothing", "shown", "changed"}
    assert not lane.events(HarnessBroke)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (StaleServiceWorker(heals="reload"), (1, 2)),
        (StaleServiceWorker(heals="wait", lasts=0), (2, 2)),
        (StaleServiceWorker(heals="wait", lasts=600), (1, 1)),
    ],
    ids=["reload", "waited", "not waited"],
)
def test_a_worker_ends_by_what_its_parameter_says(
    browser: Browser,
    begin: Begin,
    site: Origin,
    fault: StaleServiceWorker,
    shown: tuple[int, int],
) -> None:
    deploy(site, 1)
    with lane_with(begin, site, fault) as lane:
        page = opened(browser, lane, "shop")
        wait_until(partial(reported_changes, lane))
        deploy(site, 2)
        for version in shown:
            page.reload()
            heading(page, f"page {version}, script {version}, data 2")
        page.context.close()
    assert bool(lane.events(FaultDelivered)) == (1 in shown)


@pytest.mark.slow
def test_a_stopped_worker_continues_and_is_reported_once(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    deploy(site, 1)
    with lane_with(begin, site, StaleServiceWorker()) as lane:
        page = opened(browser, lane, "shop")
        wait_until(partial(reported_changes, lane))
        deploy(site, 2)
        page.reload()
        wait_until(partial(lane.events, FaultDelivered))
        tools = page.context.new_cdp_session(page)
        tools.send("ServiceWorker.enable")
        tools.send("ServiceWorker.stopAllWorkers")
        page.reload()
        heading(page, "page 1, script 1, data 2")
        page.evaluate("navigator.serviceWorker.getRegistration().then((it) => it.unregister())")
        page.reload()
        heading(page, "page 2, script 2, data 2")
        page.context.close()
    assert [what for what, _ in reported_changes(lane)].count("shown") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "policy", "why"),
    [
        ("", b"script-src 'nonce-a'; worker-src 'none'", "the page's policy"),
        ("", b"sandbox allow-scripts", "the page's policy"),
        ("navigator.serviceWorker.register('/own.js')", b"", "the site has a service worker"),
    ],
)
def test_a_site_without_service_workers_misses_the_fault_with_a_reason(
    browser: Browser, begin: Begin, site: Origin, own: str, policy: bytes, why: str
) -> None:
    site.routes["/own.js"] = Answer(headers=[(b"Content-Type", b"text/javascript")], body=b"//")
    site.routes["/before"] = Answer(
        headers=[(b"Content-Type", b"text/html")], body=f"{ICON}<script>{own}</script>".encode()
    )
    name = page_of(site, "", policy=policy)
    with lane_to(begin, site, scenario(StaleServiceWorker(), match={"url": "**/used"})) as lane:
        page = opened(browser, lane, "before")
        page.wait_for_function(
            "HAS || navigator.serviceWorker.getRegistration()".replace("HAS", str(not own).lower())
        )
        page.goto(f"https://shop.example/{name}")
        wait_until(partial(reported_changes, lane))
        page.context.close()
    assert reported_changes(lane)[0][1].startswith(why)
    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]


@pytest.mark.slow
def test_a_page_over_plain_http_has_no_worker(browser: Browser, begin: Begin, site: Origin) -> None:
    maps = (f"http://shop.example=http://127.0.0.1:{site.port}",)
    with begin(scenario=scenario(StaleServiceWorker()), maps=maps) as lane:
        context = browser.new_context(proxy={"server": lane.url})
        context.new_page().goto(f"http://shop.example/{page_of(site, '')}")
        wait_until(partial(reported_changes, lane))
        context.close()
    assert reported_changes(lane) == [("nothing", "a service worker needs HTTPS or localhost")]
