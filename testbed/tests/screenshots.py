"""`python -m tests.screenshots`, in this folder's parent: take the docs' picture of each site."""

import base64
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.chromium import launch
from warex_testbed.server import Testbed
from warex_testbed.sites import HOSTS

IMAGES = Path(__file__).parents[2] / "docs" / "images"
# Rounds each channel to fewer levels, since gradients take most of a picture's bytes.
_COARSER = """async ([png, levels]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const all = canvas.getImageData(0, 0, image.width, image.height);
  const step = 255 / (levels - 1);
  all.data.forEach((value, at) => { all.data[at] = Math.round(Math.round(value / step) * step); });
  canvas.putImageData(all, 0, 0);
  const made = await canvas.canvas.convertToBlob({type: "image/png"});
  return Array.from(new Uint8Array(await made.arrayBuffer()));
}"""

LARGEST = 60 * 1024
"""Allowed bytes of a picture in the repository."""


def picture(host: str) -> Path:
    """Return the path of the picture of a host's site."""
    return IMAGES / f"testbed-{host.partition('.')[0]}.png"


def main() -> int:
    """Take all pictures; return 1 if one is too large."""
    too_large = False
    with (
        Testbed() as bed,
        sync_playwright() as playwright,
        launch(playwright, bed) as browser,
    ):
        context = browser.new_context(
            viewport={"width": 1280, "height": 800}, device_scale_factor=0.45
        )
        page, blank = context.new_page(), context.new_page()
        for host in HOSTS:
            page.goto(f"http://{host}/")
            taken = base64.b64encode(page.screenshot()).decode()
            for levels in (256, 64, 32, 16):
                made = bytes(blank.evaluate(_COARSER, [taken, levels]))
                if len(made) <= LARGEST:
                    break
            picture(host).write_bytes(made)
            too_large = too_large or len(made) > LARGEST
            sys.stdout.write(f"{picture(host).name}: {len(made) // 1024} kB\n")
    return int(too_large)


if __name__ == "__main__":
    sys.exit(main())
