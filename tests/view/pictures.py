"""Take the docs' pictures of the viewer: a run, a trial and a pair of a run of yours.

python -m tests.view.pictures RUN docs/images

RUN is one of `warex demo`, or another with a failed trial that has a clean twin.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from warex.sandbox.chromium import find_chromium
from warex.view.documents import Documents
from warex.view.static_site import write_static_site


def draw(run: Path, to: Path) -> None:
    """Write `view-run.png`, `view-trial.png` and `view-pair.png`."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_static_site(Documents([run]), Path(folder))
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1300, "height": 860}, color_scheme="light")
        tab.goto((Path(folder) / "index.html").as_uri())
        tab.locator("a.cell").first.wait_for()
        tab.screenshot(path=to / "view-run.png")
        tab.locator("a.cell", has_text="↺").nth(2).click()
        tab.locator(".event.on").wait_for()
        tab.screenshot(path=to / "view-trial.png")
        tab.get_by_role("link", name="compare with the clean twin").click()
        tab.locator(".pair-line.first").wait_for()
        tab.set_viewport_size({"width": 1300, "height": 480})
        tab.screenshot(path=to / "view-pair.png")
        browser.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
