"""Which Chromium is taken, and what is said where there is none."""

import os
from pathlib import Path

import pytest

from warex.errors import MachineError
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium, headless_command


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def machine(folder: Path) -> dict[str, str]:
    """Return the environment of a machine with nothing on it."""
    return {"PATH": str(folder / "bin"), "HOME": str(folder / "home")}


def test_the_named_browser_is_taken_before_any_other(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "chromium")
    named = program(tmp_path / "elsewhere" / "my-chromium")

    assert find_chromium(machine(tmp_path) | {"WAREX_CHROMIUM": str(named)}) == named


def test_an_invalid_named_browser_is_never_replaced_in_silence(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "chromium")

    with pytest.raises(MachineError, match=r"WAREX_CHROMIUM names '/no/such'.*unset it"):
        find_chromium(machine(tmp_path) | {"WAREX_CHROMIUM": "/no/such"})


def test_the_machines_chromium_is_taken_before_chrome_and_playwrights(tmp_path: Path) -> None:
    own = program(tmp_path / "home/.cache/ms-playwright/chromium-1200/chrome-linux/chrome")
    assert find_chromium(machine(tmp_path)) == own
    chrome = program(tmp_path / "bin" / "google-chrome")
    assert find_chromium(machine(tmp_path)) == chrome
    chromium = program(tmp_path / "bin" / "chromium")
    assert find_chromium(machine(tmp_path)) == chromium


def test_a_headless_shell_is_taken_first_only_where_it_is_asked_for(tmp_path: Path) -> None:
    folder = "home/.cache/ms-playwright"
    older = program(tmp_path / folder / "chromium_headless_shell-1155/chrome-linux/headless_shell")
    assert find_chromium(machine(tmp_path)) == older
    name = "chrome-headless-shell"
    own = program(tmp_path / folder / f"chromium_headless_shell-1255/{name}-linux64/{name}")
    assert find_chromium(machine(tmp_path)) == own
    full = program(tmp_path / folder / "chromium-1255/chrome-linux64/chrome")
    assert find_chromium(machine(tmp_path)) == full
    assert find_chromium(machine(tmp_path), headless_shell=True) == own
    shell = program(tmp_path / "bin" / "chromium-headless-shell")
    assert find_chromium(machine(tmp_path), headless_shell=True) == shell
    assert find_chromium(machine(tmp_path)) == full


def test_playwrights_newest_is_taken_by_number(tmp_path: Path) -> None:
    for number in (999, 1200):
        program(tmp_path / f"pw/chromium-{number}/chrome-linux64/chrome")
    (tmp_path / "pw/chromium-1300/chrome-linux64").mkdir(parents=True)
    (tmp_path / "pw/chromium-1300/chrome-linux64/chrome").write_text("half a download")

    path = find_chromium(machine(tmp_path) | {"PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "pw")})

    assert "chromium-1200" in path.parts


def test_a_missing_browser_is_reported_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"playwright install chromium.*WAREX_CHROMIUM"):
        find_chromium(machine(tmp_path))


def test_a_browser_makes_no_traffic_of_its_own(tmp_path: Path) -> None:
    command = headless_command(
        Path("/usr/bin/chromium"), tmp_path, ("--dump-dom", "https://a.test/")
    )

    assert set(QUIET_FLAGS) <= set(command)
    assert "--disable-quic" in QUIET_FLAGS
    assert command[-2:] == ["--dump-dom", "https://a.test/"]
    assert ("--no-sandbox" in command) == (os.geteuid() == 0)
