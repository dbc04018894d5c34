from pathlib import Path

import pytest

from warex.agents.reference.chromium import QUIET, NoChromium, arguments, find


def _program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_browser_is_the_named_one_else_the_environments_else_the_paths(
    tmp_path: Path,
) -> None:
    asked, variable, on_path, own = (
        _program(tmp_path / name) for name in ("asked", "variable", "bin/chromium", "own")
    )
    environment = {"PATH": str(tmp_path / "bin"), "WAREX_CHROMIUM": variable}
    assert find(asked, environment, own, headless=True) == asked
    assert find(None, environment, own, headless=True) == variable
    assert find(None, {"PATH": environment["PATH"]}, own, headless=True) == on_path
    assert find(None, {"PATH": "/nowhere"}, own, headless=True) == own


def test_a_headless_shell_comes_first_where_no_window_is_wanted(tmp_path: Path) -> None:
    full, shell = (
        _program(tmp_path / "bin" / name) for name in ("chromium", "chromium-headless-shell")
    )
    environment = {"PATH": str(tmp_path / "bin")}
    assert find(None, environment, "/nowhere", headless=True) == shell
    assert find(None, environment, "/nowhere", headless=False) == full


def test_a_named_browser_that_is_missing_is_never_replaced_by_another(tmp_path: Path) -> None:
    own = _program(tmp_path / "own")
    with pytest.raises(NoChromium, match="--browser names '/no/such'"):
        find("/no/such", {"PATH": "/nowhere"}, own, headless=True)
    with pytest.raises(NoChromium, match=r"\$WAREX_CHROMIUM names '/no/such'"):
        find(None, {"PATH": "/nowhere", "WAREX_CHROMIUM": "/no/such"}, own, headless=True)


def test_without_any_browser_it_is_said_how_to_get_one() -> None:
    with pytest.raises(NoChromium, match="playwright install chromium"):
        find(None, {"PATH": "/nowhere"}, "/nowhere/chrome", headless=True)


def test_the_browser_stays_quiet_and_extra_arguments_come_last() -> None:
    inputs = arguments(["--extra=1"])
    assert set(QUIET) < set(inputs)
    assert inputs[-1] == "--extra=1"
    assert not any(argument.startswith("--proxy") for argument in inputs)
