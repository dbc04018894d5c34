"""Take the docs' picture of a report: its top, for a synthetic run.

python -m tests.report.picture docs/images/report.png
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.report.sample import make
from warex.analysis.run.load import load_run
from warex.report.html.page import write_report
from warex.sandbox.chromium import find_chromium


def draw(to: Path) -> None:
    """Write the picture."""
    path = find_chromium()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = write_report(load_run(make(Path(folder), tasks=16, repeats=1)))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1000, "height": 840}, color_scheme="light")
        tab.goto(page.as_uri())
        tab.screenshot(path=to)
        browser.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
