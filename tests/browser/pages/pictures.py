"""Draws what a browser meets under presets, for the docs: one sheet for each group of presets.

python -m tests.browser.pages.pictures docs/images page walls lies injection variation
"""

import base64
import sys
import tempfile
from contextlib import suppress
from html import escape
from pathlib import Path

from playwright.sync_api import Browser, Error, ViewportSize, sync_playwright

from tests.proxy.support.lanes import Begin, beginner
from warex.proxy.ca import ensure_ca
from warex.proxy.config import HostMap
from warex.proxy.forkserver import Forkserver
from warex.sandbox.chromium import QUIET, find_chromium
from warex.scenarios.load import load_preset
from warex.scenarios.presets import preset_names
from warex.testbed.server import Testbed

SITE = "http://shop.warex.test"
VIEW = ViewportSize(width=960, height=600)
_SETTLED = 3_000
"""Milliseconds that a page is given to show what is done to it."""
_SHEET = """<!doctype html><style>
body {{ margin: 0; padding: 12px; width: 1176px; font: 15px system-ui, sans-serif; color: #222 }}
main {{ display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px }}
figure {{ margin: 0 }}
img {{ width: 100%; border: 1px solid #bbb }}
figcaption {{ padding-top: 4px }}
</style><main>{figures}</main>"""


def draw(folder: Path, groups: list[str]) -> None:
    """Write ``faults-GROUP.png`` for each group."""
    with tempfile.TemporaryDirectory() as scratch, Testbed() as bed, sync_playwright() as driver:
        server = Forkserver()
        begin = beginner(server, ensure_ca(Path(scratch, "ca")), Path(scratch))
        browser = driver.chromium.launch(
            executable_path=str(find_chromium()),
            proxy={"server": "http://127.0.0.1:9"},
            args=[*QUIET, "--disable-quic", "--no-sandbox"],
        )
        for group in groups:
            names = ["", *(name for name in preset_names() if name.startswith(f"{group}/"))]
            figures = "".join(_figure(name, _shot(browser, begin, bed, name)) for name in names)
            sheet = browser.new_page(viewport={"width": 1200, "height": 400})
            sheet.set_content(_SHEET.format(figures=figures))
            sheet.screenshot(path=folder / f"faults-{group}.png", full_page=True)
            sheet.close()
        browser.close()
        server.close()


def _figure(name: str, png: bytes) -> str:
    data = base64.b64encode(png).decode()
    caption = escape(name or "no fault")
    return f'<figure><img src="data:image/png;base64,{data}"><figcaption>{caption}</figure>'


def _shot(browser: Browser, begin: Begin, bed: Testbed, preset: str) -> bytes:
    scenario = load_preset(preset) if preset else None
    maps = (HostMap.parse(f"{SITE}=http://127.0.0.1:{bed.port}"),)
    with begin(scenario=scenario, maps=maps, sites=(SITE,), seed=1) as lane:
        context = browser.new_context(
            proxy={"server": lane.url}, ignore_https_errors=True, viewport=VIEW
        )
        page = context.new_page()
        with suppress(Error):  # Some faults leave the browser with a page of its own.
            page.goto(SITE)
        if scenario is not None:
            page.wait_for_timeout(_SETTLED)
        png = page.screenshot()
        context.close()
    return png


if __name__ == "__main__":
    draw(Path(sys.argv[1]), sys.argv[2:])
