"""Take pictures of faults in a browser for the docs: one sheet per group of presets or faults.

python -m tests.browser.pages.pictures docs/images paper variation walls lies injection
"""

import base64
import struct
import sys
import tempfile
import zlib
from contextlib import suppress
from html import escape
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, ViewportSize, sync_playwright

from tests.proxy.support.lanes import Begin, beginner, scenario
from warex.faults import Fault
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.attacks.prompt_injection import PromptInjection
from warex.faults.lies.soft_error import SoftError
from warex.faults.lies.text_corruption import TextCorruption
from warex.faults.walls.captcha_wall import CaptchaWall
from warex.faults.walls.consent_wall import ConsentWall
from warex.faults.walls.maintenance_page import MaintenancePage
from warex.faults.walls.resource_failure import ResourceFailure
from warex.faults.walls.session_expired import SessionExpired
from warex.proxy.certificates.ca import ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium
from warex.scenarios import Scenario
from warex.scenarios.load import load_preset
from warex.scenarios.presets import preset_names
from warex_testbed.server import Testbed

SITE = "http://shop.warex.test"
VIEW = ViewportSize(width=960, height=600)
_SETTLED = 3_000
"""Milliseconds to wait for a fault's changes of the page."""
_PRODUCT = "/products/1"
_FAULTS: dict[str, tuple[str, dict[str, Fault]]] = {
    "walls": (
        "/",
        {
            "captcha_wall": CaptchaWall(),
            "consent_wall": ConsentWall(),
            "session_expired, login: own": SessionExpired(login="own"),
            "maintenance_page": MaintenancePage(),
            "resource_failure": ResourceFailure(),
        },
    ),
    "lies": (
        _PRODUCT,
        {
            "text_corruption, value: price, count: 8": TextCorruption(value="price", count=8),
            "soft_error": SoftError(),
        },
    ),
    "injection": (
        "/cart",
        {
            "prompt_injection": PromptInjection(),
            "deceptive_form": DeceptiveForm(),
            "dark_pattern, pattern: preticked_box": DarkPattern(pattern="preticked_box"),
            "dark_pattern, pattern: sneaked_item": DarkPattern(pattern="sneaked_item"),
            "dark_pattern, pattern: nagging": DarkPattern(pattern="nagging"),
        },
    ),
}
"""The page of a group, and its faults by caption."""
_SHEET = """<!doctype html><style>
body {{ margin: 0; padding: 12px; width: 1176px; font: 15px system-ui, sans-serif; color: #222 }}
main {{ display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px }}
figure {{ margin: 0 }}
img {{ width: 100%; border: 1px solid #bbb }}
figcaption {{ padding-top: 4px }}
</style><main>{figures}</main>"""


_INDICES = """async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const {data} = canvas.getImageData(0, 0, image.width, image.height);
  const level = (at) => Math.round(data[at] / 51);
  const indices = new Uint8Array(data.length / 4);
  indices.forEach((_, at) => {
    indices[at] = 36 * level(4 * at) + 6 * level(4 * at + 1) + level(4 * at + 2);
  });
  return [image.width, image.height, indices.toBase64()];
}"""


def draw(folder: Path, groups: list[str]) -> None:
    """Write ``faults-GROUP.png`` for each group."""
    with tempfile.TemporaryDirectory() as scratch, Testbed() as bed, sync_playwright() as driver:
        server = Forkserver()
        begin = beginner(server, ensure_ca(Path(scratch, "ca")), Path(scratch))
        browser = driver.chromium.launch(
            executable_path=str(find_chromium()),
            proxy={"server": "http://127.0.0.1:9"},
            args=[*QUIET_FLAGS, "--disable-quic", "--no-sandbox"],
        )
        for group in groups:
            path, met = _met(group)
            figures = "".join(
                _figure(name, _shot(browser, begin, bed, path, scenario))
                for name, scenario in ({"no fault": None} | met).items()
            )
            sheet = browser.new_page(viewport={"width": 1200, "height": 300})
            sheet.set_content(_SHEET.format(figures=figures))
            png = _small(sheet, sheet.screenshot(full_page=True))
            Path(folder, f"faults-{group}.png").write_bytes(png)
            sheet.close()
        browser.close()
        server.close()


def _met(group: str) -> tuple[str, dict[str, Scenario]]:
    """Return a page's path, and the scenarios of its pictures by caption."""
    if group not in _FAULTS:
        names = [name for name in preset_names() if name.startswith(f"{group}/")]
        return "/", {name: load_preset(name) for name in names}
    path, faults = _FAULTS[group]
    return path, {
        name: scenario(fault, match={"resource": fault.default_resource or ("document",)})
        for name, fault in faults.items()
    }


def _figure(name: str, png: bytes) -> str:
    data = base64.b64encode(png).decode()
    return f'<figure><img src="data:image/png;base64,{data}"><figcaption>{escape(name)}</figure>'


def _small(page: Page, png: bytes) -> bytes:
    """Return a picture reduced to a palette of six levels per channel."""
    width, height, indices = page.evaluate(_INDICES, base64.b64encode(png).decode())
    pixels = base64.b64decode(indices)
    rows = b"".join(b"\0" + pixels[at * width : (at + 1) * width] for at in range(height))
    palette = bytes(51 * level for colour in product(range(6), repeat=3) for level in colour)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = {b"IHDR": head, b"PLTE": palette, b"IDAT": zlib.compress(rows, 9), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks.items()
    )


def _shot(
    browser: Browser, begin: Begin, bed: Testbed, path: str, scenario: Scenario | None
) -> bytes:
    maps = (f"{SITE}=http://127.0.0.1:{bed.port}",)
    with begin(scenario=scenario, maps=maps, sites=(SITE,), seed=1) as lane:
        context = browser.new_context(
            proxy={"server": lane.url}, ignore_https_errors=True, viewport=VIEW
        )
        page = context.new_page()
        with suppress(Error):  # Some faults make the browser show its own error page.
            page.goto(SITE + path)
        if scenario is not None:
            page.wait_for_timeout(_SETTLED)
        png = page.screenshot()
        context.close()
    return png


if __name__ == "__main__":
    draw(Path(sys.argv[1]), sys.argv[2:])
