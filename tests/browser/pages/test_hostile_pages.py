"""Pages that work against what is put into them, in real Chromium."""

import json
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.site import ICON, STRICT, lane_to, opened
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.attacks.prompt_injection import PromptInjection
from warex.faults.browser.endless_spinner import EndlessSpinner
from warex.faults.popups.popup import Popup
from warex.faults.variation.feature_flag import FeatureFlag
from warex.faults.variation.layout_shift import LayoutShift
from warex.faults.variation.new_feature import NewFeature
from warex.faults.variation.relabel import Relabel
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, Witness

pytestmark = pytest.mark.browser

AT_ONCE = """addEventListener("load", () => new MutationObserver((records) => {
  for (const record of records) for (const node of record.addedNodes) node.remove();
}).observe(document.documentElement, {childList: true, subtree: true}));"""
"""Removes each foreign node in the same task."""
LATER = """addEventListener("load", () => new MutationObserver((records) => {
  for (const record of records) for (const node of record.addedNodes)
    WHEN(() => node.remove());
}).observe(document.documentElement, {childList: true, subtree: true}));"""
REVERTING = """addEventListener("load", () => {
  const kept = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) kept.set(walker.currentNode, walker.currentNode.data);
  new MutationObserver(() => {
    for (const [node, text] of kept) if (node.data !== text) node.data = text;
  }).observe(document.documentElement, {characterData: true, childList: true, subtree: true});
});"""
BODY = """<h1>Here</h1><main><nav><a href=/a>Home</a> <a href=/b>Help</a></nav>
<ul><li><a href=/c>Kettle</a><li><a href=/d>Pot</a></ul>
<form action=/done method=post><input name=mail><button>Send</button></form></main>"""


def page_with(
    site: Origin, script: str = "", style: str = "", policy: str = "", body: str = BODY
) -> None:
    headers = [(b"Content-Type", b"text/html")]
    headers += [(b"Content-Security-Policy", policy.encode())] if policy else []
    head = f"<!doctype html><title>t</title>{ICON}<style>{style}</style>"
    text = f"{head}<script nonce=a>{script}</script>{body}"
    site.routes["/hostile"] = Answer(headers=headers, body=text.encode())
    site.routes["/done"] = site.routes["/plain"]


def is_over(lane: Lane) -> bool:
    return bool(lane.events(FaultMissed) or lane.events(FaultDelivered))


def answers(page: Page) -> bool:
    return bool(page.evaluate("new Promise((then) => setTimeout(() => then(true)))"))


def gives_up(browser: Browser, begin: Begin, site: Origin, fault: Fault) -> None:
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, "hostile")
        wait_until(partial(is_over, lane), 20)
        assert answers(page)
        page.context.close()
    assert [it.reason for it in lane.events(FaultMissed)] == ["removed_by_page"]
    assert not lane.events(FaultDelivered)
    assert not lane.events(HarnessBroke)


def test_a_page_that_removes_unknown_nodes_works_and_the_fault_is_missed(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    page_with(site, AT_ONCE)
    gives_up(browser, begin, site, Popup())


ADDED = (
    Popup(),
    NewFeature(strength=1),
    LayoutShift(strength=1),
    DarkPattern(pattern="disguised_ad"),
    DarkPattern(pattern="nagging"),
    DeceptiveForm(form="added"),
    PromptInjection(),
    PromptInjection(where="comment"),
    EndlessSpinner(),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [AT_ONCE, *(LATER.replace("WHEN", it) for it in ("queueMicrotask", "requestAnimationFrame"))],
    ids=["at once", "microtask", "frame"],
)
@pytest.mark.parametrize("fault", ADDED, ids=lambda it: f"{it.kind}")
def test_an_addition_that_the_page_removes_is_given_up(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, script: str
) -> None:
    page_with(site, script)
    gives_up(browser, begin, site, fault)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Relabel(strength=1), DeceptiveForm(form="own")])
def test_a_page_that_puts_its_own_words_back_keeps_them(
    browser: Browser, begin: Begin, site: Origin, fault: Fault
) -> None:
    undo = "setInterval(() => document.querySelector('form').setAttribute('action', '/done'), 0);"
    page_with(site, f"{REVERTING} addEventListener('load', () => {{ {undo} }});")
    gives_up(browser, begin, site, fault)


FROZEN = """for (const it of [Object, Array, Function, Promise, RegExp, String, Element, Node,
  HTMLElement, Document, EventTarget, Map, Set]) {
  Object.freeze(it);
  Object.freeze(it.prototype);
}"""
BROKEN = """const no = () => { throw new Error("no"); };
for (const it of [Element, Node, Document, EventTarget, CSSStyleDeclaration, Range, Event])
  for (const name of Object.getOwnPropertyNames(it.prototype)) {
    const held = Object.getOwnPropertyDescriptor(it.prototype, name);
    if (["createElement", "append", "addEventListener", "getBoundingClientRect", "setProperty",
      "elementsFromPoint", "composedPath", "remove", "isConnected"].includes(name))
      Object.defineProperty(it.prototype, name, {...held, ...(held.get ? {get: no} : {value: no})});
  }
JSON.stringify = window.getComputedStyle = window.IntersectionObserver = no;
Object.prototype.toJSON = no;"""
CLOBBERED = "<img name=body><img name=createElement><form name=querySelector></form>"
ODD: dict[str, dict[str, str]] = {
    "frozen": {"script": FROZEN},
    "broken": {"script": BROKEN},
    "trusted types": {"policy": STRICT.decode()},
    "sandbox": {"policy": "sandbox allow-scripts"},
    "sandbox of its own": {"policy": "sandbox allow-scripts allow-same-origin"},
    "replaced": {
        "script": "addEventListener('load', () => setTimeout(() => document.replaceChildren("
        "new DOMParser().parseFromString('<h1>Here</h1>', 'text/html').documentElement), 200))"
    },
    "clobbered": {"body": f"<h1>Here</h1>{CLOBBERED}"},
    "of an odd language": {"script": "document.documentElement.lang = 'constructor'"},
    "unreadable": {"style": "main{background:#fff;color:#fff}"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_a_popup_is_shown_and_closed_on_a_page_that_is_set_against_scripts(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    page_with(site, **ODD[name])
    with lane_to(begin, site, scenario(Popup(about="survey"))) as lane:
        page = opened(browser, lane, "hostile")
        wait_until(partial(lane.events, FaultDelivered), 20)
        expect(page.get_by_role("dialog").get_by_role("heading")).not_to_be_empty()
        page.get_by_role("dialog").get_by_role("button").first.click()
        wait_until(lambda: ("dismissed", "user") in acts(lane))
        page.context.close()
    assert not lane.events(HarnessBroke)


def acts(lane: Lane) -> list[tuple[str, str]]:
    return [(it.what, it.by) for it in lane.events(Witness)]


SPYING = """const caught = [], held = EventTarget.prototype.addEventListener;
window.caught = caught;
EventTarget.prototype.addEventListener = function (kind, act, ...more) {
  caught.push(act);
  return held.call(this, kind, act, ...more);
};
for (const name of ["fetch", "setTimeout", "setInterval", "XMLHttpRequest"]) {
  const of = window[name];
  window[name] = function (...given) { caught.push(...given); return of.apply(this, given); };
}
navigator.sendBeacon = (...given) => caught.push(...given);
const iterate = Array.prototype[Symbol.iterator];
Array.prototype[Symbol.iterator] = function () { caught.push(this); return iterate.call(this); };
for (const it of [Array, Promise, String, Map, Set, WeakMap, Function])
  for (const name of Object.getOwnPropertyNames(it.prototype)) {
    const own = it.prototype[name];
    const stays = ["constructor", "push", "call", "apply"].includes(name);
    if (typeof own !== "function" || stays) continue;
    it.prototype[name] = function (...given) {
      if (caught.length < 20000) caught.push(this);
      for (let at = 0; at < given.length && caught.length < 20000; at++) caught.push(given[at]);
      return own.apply(this, given);
    };
  }
Object.prototype.toJSON = function () { caught.push(this); return this; };
Error.prepareStackTrace = (error, frames) => frames.map((it) => [it.getFunction(), it.getThis()]);
const trace = () => { for (const it of new Error().stack || []) caught.push(...it); };
const rect = Element.prototype.getBoundingClientRect;
Element.prototype.getBoundingClientRect = function () { trace(); return rect.call(this); };"""
FORGE = """async () => {
  const dialog = document.querySelector("[role=dialog]"), close = dialog.querySelector("button");
  const addresses = performance.getEntriesByType("resource").map((it) => it.name);
  const tries = ["dismissed", "accepted", "0\\naccepted\\nuser\\n\\n", "{}"];
  for (const url of addresses) for (const body of tries)
    for (const method of ["POST", "GET", "PUT"])
      await fetch(url, {method, body: method === "GET" ? undefined : body}).catch(() => {});
  const event = {type: "click", isTrusted: true, target: close, key: "Escape",
    preventDefault() {}, composedPath: () => [close]};
  for (const act of [...window.caught]) {
    if (typeof act !== "function") continue;
    for (const given of [event, "accepted", window.lastReal])
      try { act(given, given, "user"); } catch (error) { }
  }
  return [addresses.length, document.querySelector("[role=dialog]") !== null];
}"""


def test_a_page_cannot_say_in_the_agents_name_what_it_did_not_do(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    keep = "addEventListener('click', (event) => { window.lastReal = event }, true);"
    page_with(site, f"{keep}{SPYING}")
    with lane_to(begin, site, scenario(Popup(about="survey"))) as lane:
        page = opened(browser, lane, "hostile")
        wait_until(partial(lane.events, FaultDelivered))
        page.get_by_role("dialog").locator("h2").click()
        addresses, is_open = page.evaluate(FORGE)
        assert addresses
        assert is_open
        wait_until(lambda: ("forged", "") in acts(lane))
        page.evaluate("document.querySelector('[role=dialog] button').click()")
        wait_until(lambda: len(acts(lane)) == 3)
        page.context.close()
    assert acts(lane) == [("shown", ""), ("forged", ""), ("dismissed", "script")]


WORKER = """addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  if (event.request.method !== "POST") return;
  event.respondWith((async () => {
    const text = await event.request.clone().text();
    const send = (body) => fetch(event.request.url, {method: "POST", body});
    await send(text.replace("shown", "accepted"));
    const answer = await send(text);
    await send(text);
    return answer;
  })());
});"""


@pytest.mark.slow
def test_a_service_worker_can_neither_alter_nor_repeat_a_report(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    page_with(site)
    site.routes["/worker.js"] = Answer(
        headers=[(b"Content-Type", b"text/javascript")], body=WORKER.encode()
    )
    maps = (f"http://shop.localhost=http://127.0.0.1:{site.port}",)
    rule = scenario(Popup(), match={"url": "*/hostile"})
    with begin(scenario=rule, maps=maps) as lane:
        context = browser.new_context(proxy={"server": lane.url, "bypass": "<-loopback>"})
        page = context.new_page()
        page.goto("http://shop.localhost/plain")
        page.evaluate("navigator.serviceWorker.register('/worker.js').then(() => true)")
        # The worker stands between the page and the lane before the popup comes.
        page.wait_for_function("navigator.serviceWorker.controller")
        page.goto("http://shop.localhost/hostile")
        wait_until(partial(lane.events, FaultDelivered))
        wait_until(lambda: "forged" in dict(acts(lane)))
        context.close()
    assert sorted(what for what, _ in acts(lane)) == ["forged", "shown"]


DIALOG = "[role=dialog]"
COVER = "body::after{content:'';position:fixed;inset:0;background:#fff;z-index:2147483647"
UNSEEN = {
    "filter": "body > div{filter:opacity(0)}",
    "filter of the page": "html{filter:opacity(0)}",
    "opacity": "body > div{opacity:0.05 !important}",
    "blend": f"body > div, {DIALOG}{{mix-blend-mode:difference}}",
    "cover": f"{COVER}}}",
    "cover that lets clicks through": f"{COVER};pointer-events:none}}",
    "pixel": f"{DIALOG}{{width:1px;height:1px;overflow:hidden;padding:0 !important}}",
    "ink": f"{DIALOG} *, {DIALOG}{{color:#fff !important;background:#fff !important}}",
    "fill": f"{DIALOG} *{{-webkit-text-fill-color:transparent}}",
    "indent": f"{DIALOG} *{{text-indent:-9999px}}",
    "size": f"{DIALOG} *{{font-size:0 !important}}",
    "clip": f"{DIALOG}{{clip-path:inset(50%)}}",
    "scale": "body > div{transform:scale(0.01)}",
    "away": f"{DIALOG}{{left:-9999px}}",
    "hidden": f"{DIALOG}{{visibility:hidden}}",
    "mask": "body > div{mask-image:linear-gradient(transparent, transparent)}",
}
SEEN = {
    "as it is": "",
    "a little transparent": "body{opacity:.97}",
    "scaled": "body > div{transform:scale(.9)}",
    "turned": "html{rotate:1deg}",
    "grey": "html{filter:grayscale(1)}",
    "behind glass": "body::after{content:'';position:fixed;inset:0;z-index:2147483647}",
    "with a chat in a corner": "body::after{content:'Chat';position:fixed;right:0;bottom:0;"
    "background:#fff;z-index:2147483647}",
    "on a picture": "body{background-image:linear-gradient(red,blue)}",
}


def shown(browser: Browser, begin: Begin, site: Origin, fault: Fault, body: str = BODY) -> bool:
    """Return whether a change was delivered within three seconds, which no harmless one needs."""
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, "hostile")
        page.wait_for_timeout(200)
        with suppress(AssertionError):
            wait_until(partial(lane.events, FaultDelivered), 3)
        page.context.close()
    return bool(lane.events(FaultDelivered))


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSEEN)
def test_what_nobody_could_see_is_not_shown(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    page_with(site, style=UNSEEN[name])
    assert not shown(browser, begin, site, Popup(about="survey"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN)
def test_what_a_person_would_see_is_shown(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    page_with(site, style=SEEN[name])
    assert shown(browser, begin, site, Popup(about="survey"))


TALL = "<div style='height:3000px'></div>"
SCROLLED = {
    "below the fold of the page": (f"<h1>Here</h1>{TALL}<main><ul><li>a<li>b</ul></main>", True),
    "below the fold of a scroller": (
        f"<h1>Here</h1><div style='height:200px;overflow:auto'>{TALL}"
        "<main><ul><li>a<li>b</ul></main></div>",
        False,
    ),
    "left of the page": (
        "<h1>Here</h1><main style='position:absolute;left:-9999px'><ul><li>a<li>b</ul></main>",
        False,
    ),
    "closed": ("<h1>Here</h1><details><main><ul><li>a<li>b</ul></main></details>", False),
    "ink of the ground": (
        "<h1>Here</h1><main style='background:#fafafa'><ul><li>a<li>b</ul></main>"
        "<style>main *{color:#fff !important}</style>",
        False,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCROLLED)
def test_a_part_of_the_page_is_shown_where_the_page_can_be_scrolled_to(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    body, wanted = SCROLLED[name]
    page_with(site, body=body)
    assert shown(browser, begin, site, DarkPattern(pattern="disguised_ad")) == wanted


@pytest.mark.slow
def test_a_part_in_a_scroller_is_shown_once_it_is_scrolled_to(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    page_with(site, body=SCROLLED["below the fold of a scroller"][0])
    with lane_to(begin, site, scenario(DarkPattern(pattern="disguised_ad"))) as lane:
        page = opened(browser, lane, "hostile")
        expect(page.locator("li")).to_have_count(3)
        page.wait_for_timeout(300)
        assert not lane.events(FaultDelivered)
        page.locator("li").nth(1).scroll_into_view_if_needed()
        wait_until(partial(lane.events, FaultDelivered))
        page.context.close()


DRAWING = """addEventListener("load", () => {
  let draws = 0;
  setInterval(() => {
    const list = document.createElement("nav");
    list.innerHTML = `<a href=/x>Orders (${++draws})</a> <a href=/y>Help</a>`;
    document.querySelector("main").append(list);
  }, 20);
});"""


@pytest.mark.slow
def test_what_a_page_draws_later_follows_in_the_ledger_and_is_bounded(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    page_with(site, DRAWING)
    with lane_to(begin, site, scenario(Relabel(strength=1))) as lane:
        page = opened(browser, lane, "hostile")
        wait_until(lambda: [it for it in lane.events(Witness) if it.left_out])
        page.context.close()
    (done,) = lane.events(FaultDelivered)
    later = [it for it in lane.events(Witness) if it.what == "changed"]
    reported = [*done.changes, *(change for it in later for change in it.changes)]
    assert len(reported) == 50
    assert len({(it.where, it.before, it.after) for it in reported}) == 50
    assert {it.reported_by for it in reported} == {"page"}


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Relabel(strength=1), FeatureFlag(strength=1)])
def test_the_ledger_says_which_labels_became_which(
    browser: Browser, begin: Begin, site: Origin, fault: Fault
) -> None:
    page_with(site, policy=STRICT.decode())
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, "hostile")
        wait_until(partial(lane.events, FaultDelivered))
        page.context.close()
    (done,) = lane.events(FaultDelivered)
    changes: dict[str, Any] = {it.before: it.after for it in done.changes}
    assert "Help" in changes
    assert {it.reported_by for it in done.changes} == {"page"}
    assert json.loads(json.dumps(changes))
