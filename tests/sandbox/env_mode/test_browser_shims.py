"""Whatever browser a command finds is started with our flags, and is otherwise the same."""

import os
import subprocess
from pathlib import Path

import pytest

from warex.sandbox.env_mode.browser_shims import STARTED_FILE, write_shims

pytestmark = pytest.mark.wire

FLAGS = ("--proxy-server=http://127.0.0.1:1", "--proxy-bypass-list=<-loopback>")
REAL = '#!/bin/sh\necho "$0 $*"\n'


def browser(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(REAL)
    path.chmod(0o755)
    return path


def output_of(program: str, variables: dict[str, str]) -> str:
    done = subprocess.run(
        [program, "--headless", "a b"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "scratch folder").mkdir()
    return tmp_path / "scratch folder"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "PATH": f"{tmp_path}/bin:/usr/bin:/bin"}


def test_a_browser_on_the_path_gets_the_flags_behind_its_own(
    tmp_path: Path, home: dict[str, str], scratch: Path
) -> None:
    real = browser(tmp_path / "bin/google-chrome")

    shims = write_shims(home, FLAGS, scratch)

    assert shims.variables["PATH"] == f"{scratch}/bin:{home['PATH']}"
    path = output_of(str(scratch / "bin/google-chrome"), {})
    assert path == f"{real} --headless a b {' '.join(FLAGS)}"
    assert (scratch / STARTED_FILE).exists()


def test_selenium_finds_one_by_the_name_chrome(
    tmp_path: Path, home: dict[str, str], scratch: Path
) -> None:
    real = browser(tmp_path / "bin/chromium")

    write_shims({**home, "PATH": f"{tmp_path}/bin"}, FLAGS, scratch)

    assert output_of(str(scratch / "bin/chrome"), {}).startswith(str(real))
    assert not (scratch / "bin/google-chrome").exists()


@pytest.mark.parametrize(
    ("variable", "cache", "place"),
    [
        ("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright", "chromium-1117/chrome-linux/chrome"),
        (
            "PLAYWRIGHT_BROWSERS_PATH",
            ".cache/ms-playwright",
            "chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell",
        ),
        ("PUPPETEER_CACHE_DIR", ".cache/puppeteer", "chrome/linux-131.0/chrome-linux64/chrome"),
        ("SE_CACHE_PATH", ".cache/selenium", "chrome/linux64/131.0/chrome"),
    ],
)
def test_a_tool_finds_its_own_browser_where_it_looks(
    home: dict[str, str], scratch: Path, variable: str, cache: str, place: str
) -> None:
    real = browser(Path(home["HOME"]) / cache / place)
    beside = real.parent / "icudtl.dat"
    beside.write_text("beside")

    shims = write_shims(home, FLAGS, scratch)

    shadow = Path(shims.variables[variable]) / place
    assert output_of(str(shadow), {}) == f"{real} --headless a b {' '.join(FLAGS)}"
    assert (shadow.parent / "icudtl.dat").read_text() == "beside"


def test_a_cache_that_is_named_is_taken_from_there(
    tmp_path: Path, home: dict[str, str], scratch: Path
) -> None:
    real = browser(tmp_path / "mine/chromium-9/chrome-linux/chrome")
    browser(tmp_path / "mine/firefox-9/firefox/firefox")

    shims = write_shims({**home, "PLAYWRIGHT_BROWSERS_PATH": f"{tmp_path}/mine"}, FLAGS, scratch)

    shadow = Path(shims.variables["PLAYWRIGHT_BROWSERS_PATH"])
    assert output_of(str(shadow / "chromium-9/chrome-linux/chrome"), {}).startswith(str(real))
    assert (shadow / "firefox-9").is_symlink()


def test_a_browser_that_a_variable_names_is_the_one_that_is_started(
    tmp_path: Path, home: dict[str, str], scratch: Path
) -> None:
    browser(tmp_path / "bin/chromium")
    mine = browser(tmp_path / "mine/chrome")

    shims = write_shims({**home, "CHROME_BIN": str(mine)}, FLAGS, scratch)

    assert output_of(shims.variables["CHROME_BIN"], {}).startswith(str(mine))
    assert output_of(shims.variables["CHROME_PATH"], {}).startswith(str(tmp_path / "bin/chromium"))
    assert "PUPPETEER_EXECUTABLE_PATH" not in shims.variables


def test_without_a_browser_nothing_is_changed(tmp_path: Path, scratch: Path) -> None:
    shims = write_shims({"HOME": str(tmp_path), "PATH": str(tmp_path)}, FLAGS, scratch)

    assert shims.variables == {}
    assert shims.symlink_trees == ()
