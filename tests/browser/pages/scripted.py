"""A page with a script, and what is seen of it and told of it."""

from contextlib import AbstractContextManager
from functools import partial

from playwright.sync_api import Page, expect

from tests.browser.pages.site import ICON, STRICT, lane_to
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.traces import FaultDelivered

FROZEN = """for (const it of [Object, Array, Function, Promise, Reflect, Storage, WeakSet,
  EventTarget, IDBFactory, IDBObjectStore, Element, Node, Document, Event, String, URL]) {
  Object.freeze(it.prototype);
  Object.freeze(it);
}"""
TRIES = """const met = [];
const tries = (act) => {
  try { return `${act()}`; } catch (error) { return error.name; }
};"""


def page_of(site: Origin, script: str, body: str = "", policy: bytes = STRICT) -> str:
    """Let the site have a page with a script; return the page's name."""
    headers = [(b"Content-Type", b"text/html")]
    headers += [(b"Content-Security-Policy", policy)] if policy else []
    reported = (
        "addEventListener('load', () => { document.querySelector('h1').textContent = met; });"
    )
    text = (
        f"<!doctype html>{ICON}<script nonce=a>{TRIES}{script};{reported}</script><h1></h1>{body}"
    )
    site.routes["/used"] = Answer(headers=headers, body=text.encode())
    return "used"


def lane_with(begin: Begin, site: Origin, fault: Fault) -> AbstractContextManager[Lane]:
    return lane_to(begin, site, scenario(fault))


def changes(lane: Lane) -> list[tuple[str, str]]:
    """Return what the ledger says of the changes: where, and what is there now."""
    wait_until(partial(lane.events, FaultDelivered))
    return [(it.where, it.after or "") for it in lane.events(FaultDelivered)[0].changes]


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading")).to_have_text(text)
