"""A harness's own Playwright finds our browser where it expects its own."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from warex.benchmarks.installation.playwright_browsers import VARIABLE, browsers_for
from warex.benchmarks.installation.virtualenv import Virtualenv
from warex.errors import MachineError


def environment(folder: Path, browsers: object) -> Virtualenv:
    package = folder / "venv/lib/python3.12/site-packages/playwright/driver/package"
    package.mkdir(parents=True)
    (package / "browsers.json").write_text(json.dumps(browsers))
    return Virtualenv(folder, folder / "venv/bin/python", {})


def known(**revisions: str) -> dict[str, object]:
    names = {name.replace("_", "-"): revision for name, revision in revisions.items()}
    return {"browsers": [{"name": name, "revision": rev} for name, rev in names.items()]}


@pytest.mark.parametrize(
    ("revisions", "places"),
    [
        ({"chromium": "1117"}, ["chromium-1117/chrome-linux/chrome"]),
        (
            {"chromium": "1255", "chromium_headless_shell": "1255"},
            [
                "chromium-1255/chrome-linux64/chrome",
                "chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell",
            ],
        ),
    ],
)
def test_the_browser_is_where_each_version_of_playwright_looks(
    tmp_path: Path, revisions: dict[str, str], places: list[str]
) -> None:
    made = environment(tmp_path / "home", known(**revisions))

    variables = browsers_for(made, tmp_path / "browsers", Path("/usr/bin/chromium"))

    assert variables == {VARIABLE: str(tmp_path / "browsers")}
    for place in places:
        assert os.access(tmp_path / "browsers" / place, os.X_OK)


def test_our_arguments_come_after_the_harnesss(tmp_path: Path) -> None:
    made = environment(tmp_path / "home", known(chromium="7"))
    browsers_for(made, tmp_path / "b", Path("/bin/echo"), ["--proxy-server=http://[::1]:1", "a b"])

    program = tmp_path / "b/chromium-7/chrome-linux/chrome"
    completed = subprocess.run(
        [program, "--theirs", "x y"], capture_output=True, text=True, check=True
    )

    assert completed.stdout == "--theirs x y --proxy-server=http://[::1]:1 a b\n"


@pytest.mark.parametrize("browsers", [[], {"browsers": 7}, {"browsers": [{}]}])
def test_an_environment_without_playwright_is_said_to_be_broken(
    tmp_path: Path, browsers: object
) -> None:
    made = environment(tmp_path, browsers)

    with pytest.raises(MachineError, match="warex benchmarks setup"):
        browsers_for(made, tmp_path / "b", Path("/bin/echo"))
