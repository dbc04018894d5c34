"""Pages on which every change of a page must work, and functions that open them through a lane."""

from contextlib import AbstractContextManager

from playwright.sync_api import Browser, Page

from tests.proxy.support.lanes import Begin, Lane
from tests.proxy.support.origin import Answer, Origin
from warex.scenarios import Scenario
from warex.traces import Witness

ICON = "<link rel=icon href='data:,'>"
STRICT = (
    b"default-src 'none'; script-src 'nonce-a' 'strict-dynamic';"
    b" require-trusted-types-for 'script'; trusted-types none"
)
PAGES = {
    "plain": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=f"<!doctype html><title>t</title>{ICON}<h1>Here</h1>".encode(),
    ),
    "strict": Answer(
        headers=[(b"Content-Type", b"text/html"), (b"Content-Security-Policy", STRICT)],
        body=(
            "<head><meta http-equiv=Content-Security-Policy content=\"connect-src 'none'\">"
            f"{ICON}<body><h1>Here</h1>"
        ).encode(),
    ),
    "wide": Answer(
        headers=[(b"Content-Type", b"text/html; charset=utf-16le")],
        body=f"<html>{ICON}<h1>Here</h1>".encode("utf-16-le"),
    ),
    "xml": Answer(
        headers=[(b"Content-Type", b"application/xhtml+xml")],
        body=(
            b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title>t</title>"
            b"<link rel='icon' href='data:,'/></head><body><h1>Here</h1></body></html>"
        ),
    ),
    "redrawn": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=(
            f"{ICON}<div id=app></div><script>setInterval(() => "
            "{ document.body.innerHTML = '<h1>Here</h1>' }, 50)</script>"
        ).encode(),
    ),
    "based": Answer(
        headers=[(b"Content-Type", b"text/html"), (b"Content-Security-Policy", STRICT)],
        body=f"<base href='http://elsewhere.example/a/'>{ICON}<h1>Here</h1>".encode(),
    ),
    "written": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=(
            f"{ICON}<script>setTimeout(() => {{ document.open();"
            f"document.write(`{ICON}<h1>Here</h1>`); document.close() }})</script><img src=/none>"
        ).encode(),
    ),
    "written-late": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=(
            f"{ICON}<script>addEventListener('load', () => {{ document.open();"
            f"document.write(`{ICON}<h1>Here</h1>`); document.close() }})</script>"
        ).encode(),
    ),
    "swapped": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=(
            f"{ICON}<script>setTimeout(() => {{ const whole = document.createElement('html');"
            "whole.innerHTML = '<body><h1>Here</h1>'; document.documentElement.replaceWith(whole) }"
            ", 200)</script>"
        ).encode(),
    ),
    "shadowed": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=(
            f"{ICON}<script>const held = document.createElement('my-app');"
            "addEventListener('load', () => document.body.replaceChildren(held));"
            "held.attachShadow({mode: 'open'}).innerHTML = '<h1>Here</h1>'</script>"
        ).encode(),
    ),
    "patched": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=(
            f"{ICON}<h1>Here</h1><script>window.fetch = () => Promise.reject(1);"
            "window.setTimeout = window.setInterval = () => 0; window.clearInterval = null</script>"
        ).encode(),
    ),
}


def lane_to(begin: Begin, site: Origin, scenario: Scenario) -> AbstractContextManager[Lane]:
    """Begin a lane through which the site is https://shop.example."""
    maps = (f"https://shop.example=http://127.0.0.1:{site.port}",)
    return begin(scenario=scenario, maps=maps)


def opened(browser: Browser, lane: Lane, name: str) -> Page:
    context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto(f"https://shop.example/{name}")
    return page


def reported_changes(lane: Lane) -> list[tuple[str, str]]:
    """Return the reports of pages, and of the sites that faults lead to, so far."""
    return [(it.what, it.detail) for it in lane.events(Witness)]


def has_reported(lane: Lane, *wanted: str) -> bool:
    """Whether these are the reports so far; two that a page sends at once may come in any order."""
    return sorted(what for what, _ in reported_changes(lane)) == sorted(wanted)
