r"""Take pictures of faults in a browser for the docs: one sheet per group of presets or faults.

python -m tests.browser.pages.pictures docs/images paper variation walls lies injection \
    connection transport browser
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
from tests.proxy.support.namespace_programs import BeginInside, beginner_inside
from warex.faults import Fault
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.faults.attacks.prompt_injection import PromptInjection
from warex.faults.browser.endless_spinner import EndlessSpinner
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.connection_refused import ConnectionRefused
from warex.faults.connection.connection_timeout import ConnectionTimeout
from warex.faults.connection.dns_failure import DnsFailure
from warex.faults.connection.network_error import NetworkError
from warex.faults.connection.tls_error import TlsError
from warex.faults.lies.soft_error import SoftError
from warex.faults.lies.text_corruption import TextCorruption
from warex.faults.transport.bandwidth import Bandwidth
from warex.faults.transport.malformed_response import MalformedResponse
from warex.faults.transport.offline import Offline
from warex.faults.transport.stalled_body import StalledBody
from warex.faults.transport.truncated_body import TruncatedBody
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
SECURE_SITE = "https://shop.warex.test"
VIEW = ViewportSize(width=960, height=600)
_SETTLED = 3_000
"""Milliseconds to wait for a fault's changes of the page."""
_PRODUCT = "/products/1"
_INSIDE = "connection"
"""The group whose pictures are taken in a namespace."""
_FLAGS = [*QUIET_FLAGS, "--disable-quic", "--no-sandbox"]
_VISIT = f"""
import sys
from contextlib import suppress
from playwright.sync_api import Error, sync_playwright

chromium, url, file, settled = sys.argv[1:]
with sync_playwright() as driver:
    browser = driver.chromium.launch(executable_path=chromium, args={_FLAGS})
    page = browser.new_page(viewport={dict(VIEW)})
    with suppress(Error):
        page.goto(url)
    page.wait_for_timeout(int(settled))
    page.screenshot(path=file)
    browser.close()
"""
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
    "connection": (
        "/",
        {
            "dns_failure": DnsFailure(),
            "connection_refused": ConnectionRefused(),
            "connection_timeout": ConnectionTimeout(),
            "connection_cut": ConnectionCut(),
            "connection_cut, how: close": ConnectionCut(how="close"),
            "tls_error, how: expired": TlsError(how="expired"),
            "tls_error, how: unknown_ca": TlsError(how="unknown_ca"),
            "network_error, page: firefox": NetworkError(delay=0, page="firefox"),
        },
    ),
    "transport": (
        "/",
        {
            "truncated_body, how: clean": TruncatedBody(how="clean", share=0.15),
            "truncated_body, how: close": TruncatedBody(how="close", share=0.1),
            "stalled_body": StalledBody(share=0.12),
            "bandwidth, down: 600": Bandwidth(down=600),
            "malformed_response": MalformedResponse(),
            "offline": Offline(),
        },
    ),
    "browser": ("/", {"endless_spinner": EndlessSpinner()}),
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
        ca = ensure_ca(Path(scratch, "ca"))
        begin = beginner(server, ca, Path(scratch))
        begin_inside = beginner_inside(server, ca, Path(scratch))
        browser = driver.chromium.launch(
            executable_path=str(find_chromium()),
            proxy={"server": "http://127.0.0.1:9"},
            args=_FLAGS,
        )
        for group in groups:
            path, met = _met(group)
            figures = ""
            for name, scenario in ({"no fault": None} | met).items():
                if group == _INSIDE:
                    png = _shot_inside(begin_inside, bed, Path(scratch, "shot.png"), scenario)
                else:
                    png = _shot(browser, begin, bed, path, scenario)
                figures += _figure(name, png)
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
    return path, {name: scenario(fault, match=_match(fault)) for name, fault in faults.items()}


def _match(fault: Fault) -> dict[str, object]:
    if fault.target == "connection":
        return {"url": SECURE_SITE}
    return {"resource": fault.default_resource or ("document",)}


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
        # Some faults make the browser show its own error page, or never end the page.
        with suppress(Error):
            page.goto(SITE + path, wait_until="load" if scenario is None else "commit")
        if scenario is not None:
            page.wait_for_timeout(_SETTLED)
        png = page.screenshot()
        context.close()
    return png


def _shot_inside(begin: BeginInside, bed: Testbed, file: Path, scenario: Scenario | None) -> bytes:
    """Take the picture in a namespace, where connections and lookups can fail."""
    maps = (f"{SECURE_SITE}=http://127.0.0.1:{bed.port}",)
    with begin(scenario=scenario, maps=maps, sites=(SECURE_SITE,), seed=1) as within:
        settled = str(_SETTLED)
        within.says(sys.executable, "-c", _VISIT, find_chromium(), SECURE_SITE, file, settled)
    return file.read_bytes()


if __name__ == "__main__":
    draw(Path(sys.argv[1]), sys.argv[2:])
