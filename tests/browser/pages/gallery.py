"""Take a picture of every fault of a page on sites of different makes: one sheet for each fault.

The machine needs a font with Japanese and Hebrew (Debian: ``fonts-ipafont-gothic``).

python -m tests.browser.pages.gallery docs/images/pages [FAULT ...]
"""

import base64
import sys
import tempfile
from contextlib import ExitStack, suppress
from html import escape
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, BrowserContext, Error, Page, ViewportSize, sync_playwright

from tests.browser.pages.makes import MAKES, routes
from tests.proxy.support.lanes import Begin, beginner, scenario
from tests.proxy.support.origin import served
from warex.faults import Fault
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.attacks.prompt_injection import PromptInjection
from warex.faults.lies.soft_error import SoftError
from warex.faults.lies.text_corruption import TextCorruption
from warex.faults.popups.malicious_popup import MaliciousPopup
from warex.faults.popups.popup import Popup
from warex.faults.server.http_error import HttpError
from warex.faults.variation.feature_flag import FeatureFlag
from warex.faults.variation.id_drift import IdDrift
from warex.faults.variation.layout_shift import LayoutShift
from warex.faults.variation.new_feature import NewFeature
from warex.faults.variation.relabel import Relabel
from warex.faults.variation.reorder import Reorder
from warex.faults.variation.restyle import Restyle
from warex.faults.variation.translate import Translate
from warex.faults.walls.captcha_wall import CaptchaWall
from warex.faults.walls.consent_wall import ConsentWall
from warex.faults.walls.maintenance_page import MaintenancePage
from warex.faults.walls.rate_limit import RateLimit
from warex.faults.walls.session_expired import SessionExpired
from warex.faults.world.item_gone import ItemGone
from warex.faults.world.price_change import PriceChange
from warex.faults.world.two_factor import TwoFactor
from warex.faults.world.write_conflict import WriteConflict
from warex.proxy.certificates.ca import ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium
from warex.scenarios import Trigger
from warex_testbed.server import Testbed

TESTBED: Final = {
    "Daybook": "https://calendar.warex.test/",
    "Courier": "https://mail.warex.test/",
    "Voltline": "https://shop.warex.test/",
    "Pantry Lane": "https://market.warex.test/cart",
    "Freewheel": "https://forum.warex.test/",
    "Uplink": "https://board.warex.test/",
}
"""A page of some of the testbed's sites, by name."""
FAULTS: Final[dict[str, Fault | None]] = {
    "before": None,
    "captcha_wall": CaptchaWall(),
    "consent_wall": ConsentWall(),
    "session_expired": SessionExpired(login="own"),
    "maintenance_page": MaintenancePage(),
    "http_error": HttpError(status=500, page="shop"),
    "soft_error": SoftError(page="portal"),
    "rate_limit": RateLimit(),
    "two_factor": TwoFactor(),
    "price_change": PriceChange(),
    "item_gone": ItemGone(),
    "write_conflict": WriteConflict(),
    "popup": Popup(),
    "malicious_popup": MaliciousPopup(lure="session"),
    "fake_site": MaliciousPopup(lure="session"),
    "prompt_injection": PromptInjection(),
    "deceptive_form": DeceptiveForm(),
    "preticked_box": DarkPattern(pattern="preticked_box"),
    "disguised_ad": DarkPattern(pattern="disguised_ad"),
    "nagging": DarkPattern(pattern="nagging"),
    "sneaked_item": DarkPattern(pattern="sneaked_item"),
    "text_corruption": TextCorruption(value="price", count=20),
    "feature_flag": FeatureFlag(strength=1),
    "id_drift": IdDrift(strength=1),
    "layout_shift": LayoutShift(strength=1),
    "new_feature": NewFeature(strength=1),
    "relabel": Relabel(strength=1),
    "reorder": Reorder(strength=1),
    "restyle": Restyle(strength=1),
    "translate": Translate(strength=1),
}
"""What is on each sheet; ``before`` is the same pages without a fault."""
LARGEST: Final = 100 * 1000
"""Bytes of a sheet."""
_VIEW: Final = ViewportSize(width=960, height=600)
_SETTLED: Final = 2_500
"""Milliseconds to wait for a fault's changes of the pages."""
_MET: Final = "?met=1"
_SAVES: Final = """(address) => {
  const form = document.createElement("form");
  Object.assign(form, {method: "post", action: address});
  document.body.append(form);
  form.submit();
}"""
_SHEET: Final = """<!doctype html><style>
body {{ margin: 0; padding: 8px; width: 1184px; font: 13px system-ui, sans-serif; color: #222 }}
main {{ display: grid; grid-template-columns: repeat(4, 1fr); gap: 8px }}
figure {{ margin: 0 }} img {{ display: block; width: 100%; outline: 1px solid #bbb }}
</style><main>{figures}</main>"""
_COMPRESSED: Final = """async ([png, quality]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0);
  const blob = await canvas.convertToBlob({type: "image/webp", quality});
  return new Uint8Array(await blob.arrayBuffer()).toBase64();
}"""


def draw(folder: Path, names: list[str]) -> None:
    """Write ``NAME.webp`` for each fault."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bed = stack.enter_context(Testbed())
        origin = stack.enter_context(served())
        origin.routes |= routes()
        driver = stack.enter_context(sync_playwright())
        server = Forkserver()
        stack.callback(server.close)
        begin = beginner(server, ensure_ca(scratch / "ca"), scratch)
        browser = driver.chromium.launch(
            executable_path=str(find_chromium()),
            proxy={"server": "http://127.0.0.1:9"},
            args=[*QUIET_FLAGS, "--disable-quic", "--no-sandbox"],
        )
        stack.callback(browser.close)
        pages = TESTBED | {
            name: f"https://make{at}.warex.test/{name.replace(' ', '-')}"
            for at, name in enumerate(MAKES)
        }
        maps = tuple(
            f"{_origin(url)}=http://127.0.0.1:{origin.port if name in MAKES else bed.port}"
            for name, url in pages.items()
        )
        for name in names:
            shots = _shots(browser, begin, maps, pages, name)
            _write(browser, folder / f"{name}.webp", shots)


def _origin(url: str) -> str:
    return "/".join(url.split("/")[:3])


def _shots(
    browser: Browser, begin: Begin, maps: tuple[str, ...], pages: dict[str, str], name: str
) -> dict[str, bytes]:
    fault = FAULTS[name]
    match = {"url": f"*{_MET}*"}
    met = None if fault is None else scenario(fault, match=match, trigger=Trigger(always=True))
    with begin(scenario=met, maps=maps, seed=1) as lane:
        context = browser.new_context(
            proxy={"server": lane.url}, ignore_https_errors=True, viewport=_VIEW
        )
        tabs = {site: _opened(context, url, name) for site, url in pages.items()}
        next(iter(tabs.values())).wait_for_timeout(_SETTLED)
        if name == "fake_site":
            for tab in tabs.values():
                with suppress(Error):
                    tab.get_by_role("link", name="SIGN IN AGAIN").click(timeout=5_000)
                    tab.wait_for_url("https://id--*", timeout=5_000)
        shots = {}
        for site, tab in tabs.items():
            tab.bring_to_front()
            shots[site] = tab.screenshot()
        context.close()
    return shots


def _opened(context: BrowserContext, url: str, name: str) -> Page:
    """Open a page, then meet the fault there: it may look as the site did before."""
    page = context.new_page()
    with suppress(Error):
        page.goto(url)
    item = f"{_origin(url)}/products/1" if name == "item_gone" else url
    with suppress(Error):
        if name == "write_conflict":
            page.evaluate(_SAVES, f"{url}{_MET}")
        else:
            page.goto(f"{item}{_MET}")
    return page


def _write(browser: Browser, path: Path, shots: dict[str, bytes]) -> None:
    figures = "".join(
        f'<figure><img src="data:image/png;base64,{base64.b64encode(png).decode()}">'
        f"<figcaption>{escape(site)}</figcaption></figure>"
        for site, png in shots.items()
    )
    sheet = browser.new_page(viewport={"width": 1200, "height": 300})
    sheet.set_content(_SHEET.format(figures=figures))
    png = base64.b64encode(sheet.screenshot(full_page=True)).decode()
    for quality in (0.6, 0.45, 0.3, 0.2, 0.1, 0.05, 0.0):
        made = base64.b64decode(sheet.evaluate(_COMPRESSED, [png, quality]))
        if len(made) <= LARGEST:
            break
    sheet.close()
    path.write_bytes(made)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), sys.argv[2:] or list(FAULTS))
