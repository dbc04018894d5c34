"""Pages of React, Vue, HTMX and jQuery that are changed stay changed and do what they did."""

import asyncio
import re
import shutil
import subprocess
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.browser.pages.site import ICON, lane_to
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin, Seen, Stream
from warex.faults import Fault
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.attacks.prompt_injection import PromptInjection
from warex.faults.attacks.xss import Xss
from warex.faults.lies.text_corruption import TextCorruption
from warex.faults.popups.popup import Popup
from warex.faults.variation.id_drift import IdDrift
from warex.faults.variation.layout_shift import LayoutShift
from warex.faults.variation.new_feature import NewFeature
from warex.faults.variation.relabel import SYNONYMS, Relabel
from warex.faults.variation.reorder import Reorder
from warex.faults.variation.restyle import Restyle
from warex.faults.walls.captcha_wall import CaptchaWall
from warex.faults.walls.consent_wall import ConsentWall
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, HarnessBroke, Witness

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCES = Path(__file__).with_name("frameworks")
NAGGING = DarkPattern(pattern="nagging", times=1)
FAULTS: tuple[Fault, ...] = (
    Popup(place="corner"),
    Relabel(strength=1),
    Reorder(strength=1),
    Restyle(strength=1),
    LayoutShift(strength=1),
    NewFeature(strength=1),
    NAGGING,
    DarkPattern(pattern="disguised_ad"),
    DeceptiveForm(asks="card"),
    Xss(),
    PromptInjection(payload="confirm", place="user_content"),
    PromptInjection(payload="confirm", selector="article", where="title"),
)
LIST = "<li>Pear</li><li>Fig</li><li>Lime</li><li>Apple</li><li>Kiwi</li>"
BUNDLE = ("--bundle", "--jsx=automatic", "--log-level=warning")
PARTS = (
    "<nav><a href=#a>Home</a> <a href=#b>Settings</a> <a href=#c>Orders</a></nav>"
    "<label>Email <input id=typed></label><ul id=goods><li><a href=#d>Kettle</a> $12.50</li>"
    "<li><a href=#e>Pot</a> $9.00</li></ul><article><p>A good kettle.</p></article>"
)
VUE = f"""<div id=app>{PARTS}<button id=keep @click='clicks++'>Save</button>
<button id=draw @click='draws++'>Draw</button>
<div id=drawn><button v-if='draws' :key='draws' @click='clicks++'>Delete</button></div>
<p id=told>clicks {{{{ clicks }}}}</p>
<ul id=keyed><li v-for='word in words' :key='word'>{{{{ word }}}}</li></ul>
<ul id=indexed><li v-for='(word, at) in words' :key='at'>{{{{ word }}}}</li></ul>
<button id=more @click='words.splice(2, 2, "Nut")'>More</button>
<button id=sort @click='words.sort()'>Sort</button></div><script src=/vue.js></script>
<script>Vue.createApp({{data: () => ({{
  clicks: 0, draws: 0, words: ["Pear", "Fig", "Lime", "Apple", "Kiwi"]
}})}}).mount("#app")</script>"""
HTMX = f"""<script src=/htmx.js></script>{PARTS}
<button id=keep hx-get=/click hx-target=#told>Save</button>
<button id=draw hx-get=/delete hx-target=#drawn>Draw</button>
<div id=drawn></div><p id=told>clicks 0</p><ul id=keyed>{LIST}</ul>
<button id=more hx-get=/nut hx-target='#keyed :nth-child(2)' hx-swap=outerHTML>More</button>
<button id=sort hx-get=/sorted hx-target=#keyed>Sort</button>"""
JQUERY = f"""<script src=/jquery.js></script>{PARTS}<button id=keep>Save</button>
<button id=draw>Draw</button><div id=drawn></div><p id=told>clicks 0</p><ul id=keyed>{LIST}</ul>
<button id=more>More</button> <button id=sort>Sort</button><script>
$("#more").on("click", () => $("#keyed li").eq(1).replaceWith($("<li>").text("Nut")));
$("#sort").on("click", () => {{
  const list = $("#keyed"), text = (it) => $(it).text();
  list.append(list.children().get().sort((a, b) => text(a).localeCompare(text(b))));
}});
let clicks = 0;
$("#keep").on("click", () => $("#told").text("clicks " + ++clicks));
$("#drawn").on("click", "button", () => $("#told").text("clicks " + ++clicks));
$("#draw").on("click", () => $("#drawn").html($("<button>").text("Delete")));
</script>"""
DELETE = "<button hx-get=/click hx-target=#told>Delete</button>"
PAGES = ("react", "react-page", "vue", "htmx", "jquery")


@pytest.fixture(scope="module")
def pages(site: Origin, tmp_path_factory: pytest.TempPathFactory) -> Origin:
    folder = tmp_path_factory.mktemp("frameworks")
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    (esbuild,) = folder.glob("node_modules/@esbuild/*/bin/esbuild")
    run(str(esbuild), "server.jsx", *BUNDLE, "--platform=node", "--outfile=server.cjs")
    run(
        str(esbuild),
        "client.jsx",
        *BUNDLE,
        '--define:process.env.NODE_ENV="development"',
        "--outfile=client.js",
    )
    drawn = run("node", "server.cjs")
    react = f"<div id=app>{drawn}</div><script src=/client.js></script>"
    site.routes["/react-page"] = html(run("node", "server.cjs", "page"))
    for name, body in {"react": react, "vue": VUE, "htmx": HTMX, "jquery": JQUERY}.items():
        page = f"<!doctype html><html lang=en><head><title>t</title>{ICON}</head><body>{body}"
        site.routes[f"/{name}"] = html(page)
    for name, file in {
        "client": "client.js",
        "vue": "node_modules/vue/dist/vue.global.prod.js",
        "htmx": "node_modules/htmx.org/dist/htmx.min.js",
        "jquery": "node_modules/jquery/dist/jquery.min.js",
    }.items():
        kind = [(b"Content-Type", b"text/javascript; charset=utf-8")]
        site.routes[f"/{name}.js"] = Answer(headers=kind, body=(folder / file).read_bytes())
    site.routes["/delete"] = html(DELETE)
    site.routes["/nut"] = html("<li>Nut</li>")
    site.routes["/sorted"] = html(
        "".join(f"<li>{it}</li>" for it in ["Elm", "Fig", "Kiwi", "Lime", "Nut"])
    )
    return site


def html(text: str) -> Answer:
    return Answer(headers=[(b"Content-Type", b"text/html; charset=utf-8")], body=text.encode())


def counting() -> Stream:
    """Answer with how often it was asked."""

    times = count(1)

    async def answer(seen: Seen, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = f"clicks {next(times)}".encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        await writer.drain()

    return answer


def errors_of(page: Page) -> list[str]:
    """Return the list that the page's errors are going to be in."""
    messages: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            messages.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: messages.append(str(error)))
    return messages


def report_count(page: Page) -> int:
    return int(page.locator("#told").inner_text().removeprefix("clicks "))


def uses(page: Page) -> None:
    """Click, type, have something redrawn twice, and click that."""
    expect(page.locator("#told")).to_have_text(re.compile(r"clicks \d"))
    # Until its scripts have run, a click does nothing.
    page.wait_for_load_state()
    before = report_count(page)
    page.locator("#typed").fill("half a wo")
    page.locator("#keep").click()
    wait_until(lambda: report_count(page) == before + 1)
    for times in (2, 3):
        page.locator("#draw").click()
        page.locator("#drawn button").click()
        wait_until(partial(lambda wanted: report_count(page) == wanted, before + times))
    expect(page.locator("#typed")).to_have_value("half a wo")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.kind)
def test_a_changed_page_of_a_framework_works_and_stays_changed(
    browser: Browser, begin: Begin, pages: Origin, fault: Fault, name: str
) -> None:
    pages.routes["/click"] = counting()
    with lane_to(begin, pages, scenario(fault)) as lane:
        page = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True).new_page()
        page.set_default_timeout(30_000)
        messages = errors_of(page)
        page.goto(f"https://shop.example/{name}")
        if fault == NAGGING:
            page.get_by_role("dialog").get_by_role("button").first.click()
        uses(page)
        if fault.kind == "relabel":
            for selector, word in (("#keep", "save"), ("#drawn button", "delete")):
                label = page.locator(selector)
                wait_until(partial(lambda it, of: it.inner_text() in of, label, SYNONYMS[word]))
        if fault.kind == "popup":
            page.get_by_role("dialog").get_by_role("button").first.click()
            expect(page.get_by_role("dialog")).to_have_count(0)
        if name.startswith("react"):
            assert not page.evaluate(TAKEN_OVER)
            expect(page.locator("#late")).to_have_text("Help")
            page.evaluate("window.goOn()")
            wait_until(lambda: page.evaluate(TAKEN_OVER))
            if fault.kind == "relabel":
                wait_until(lambda: page.locator("#late").inner_text() in SYNONYMS["help"])
        wait_until(partial(lane.events, FaultDelivered))
        assert messages == []
        page.context.close()
    assert not lane.events(HarnessBroke)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("wall", [ConsentWall(), CaptchaWall()], ids=lambda wall: wall.kind)
def test_a_page_of_a_framework_works_once_the_wall_before_it_is_passed(
    browser: Browser, begin: Begin, pages: Origin, wall: Fault, name: str
) -> None:
    pages.routes["/click"] = counting()
    with lane_to(begin, pages, scenario(wall, trigger=Trigger(first=1))) as lane:
        page = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True).new_page()
        page.set_default_timeout(30_000)
        page.goto(f"https://shop.example/{name}")
        messages = errors_of(page)
        page.locator("form").locator("button, input").first.click()
        uses(page)
        if name.startswith("react"):
            page.evaluate("window.goOn()")
            wait_until(lambda: page.evaluate(TAKEN_OVER))
        assert messages == []
        page.context.close()
    assert [it.what for it in lane.events(Witness)] == ["cleared"]


@pytest.mark.parametrize("name", PAGES)
def test_a_false_price_stays_in_a_page_that_a_framework_takes_over(
    browser: Browser, begin: Begin, pages: Origin, name: str
) -> None:
    pages.routes["/click"] = counting()
    with lane_to(begin, pages, scenario(TextCorruption())) as lane:
        page = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True).new_page()
        messages = errors_of(page)
        page.goto(f"https://shop.example/{name}")
        if name.startswith("react"):
            page.evaluate("window.goOn()")
            wait_until(lambda: page.evaluate(TAKEN_OVER))
        uses(page)
        wait_until(lambda: lane.events(FaultDelivered))
        (delivered,) = lane.events(FaultDelivered)
        expect(page.locator("#goods")).to_contain_text("$13.50")
        expect(page.locator("#goods")).not_to_contain_text("$12.50")
        assert messages == []
        page.context.close()
    assert [it.before for it in delivered.changes] == ["$12.50"]


@pytest.mark.parametrize("name", PAGES)
def test_lists_of_a_framework_are_reordered_until_it_sorts_them(
    browser: Browser, begin: Begin, pages: Origin, name: str
) -> None:
    with lane_to(begin, pages, scenario(Reorder(strength=1))) as lane:
        page = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True).new_page()
        messages = errors_of(page)
        page.goto(f"https://shop.example/{name}")
        wait_until(partial(lane.events, FaultDelivered))
        lists = [
            page.locator(f"#{it} li")
            for it in ("keyed", "indexed")
            if page.query_selector(f"#{it}")
        ]
        for items in lists:
            expect(items).not_to_have_text(["Pear", "Fig", "Lime", "Apple", "Kiwi"])
        page.locator("#more").click()
        for items in lists:
            expect(items.filter(has_text="Nut")).to_have_count(1)
            assert len(items.all()) == (5 if name in {"htmx", "jquery"} else 4)
        page.locator("#sort").click()
        for items in lists:
            wait_until(
                partial(lambda it: it.all_inner_texts() == sorted(it.all_inner_texts()), items)
            )
        assert messages == []
        page.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_framework_goes_on_when_names_have_drifted(
    browser: Browser, begin: Begin, pages: Origin, name: str
) -> None:
    pages.routes["/click"] = counting()
    with lane_to(begin, pages, scenario(IdDrift(strength=1))) as lane:
        page = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True).new_page()
        messages = errors_of(page)
        page.goto(f"https://shop.example/{name}")
        # React's scripts and the server of HTMX's page speak of all names.
        wait_until(partial(lane.events, FaultDelivered if name in {"vue", "jquery"} else Witness))
        page.get_by_label("Email").fill("half a wo")
        for button in ("Save", "Draw", "Delete", "Draw", "Delete", "More", "Sort"):
            page.get_by_role("button", name=button).click()
            expect(page.get_by_role("button", name="Save")).to_be_visible()
        expect(page.get_by_text("clicks 3")).to_be_visible()
        expect(page.get_by_label("Email")).to_have_value("half a wo")
        drifted = page.locator("#keyed").count() == 0
        assert drifted == (name == "vue")
        assert messages == []
        page.context.close()


TAKEN_OVER = (
    "Object.keys(document.querySelector('#late')).some((key) => key.startsWith('__reactFiber$'))"
)
