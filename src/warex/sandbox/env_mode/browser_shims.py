"""Browser shims: scripts that start each Chromium on this machine with flags for the proxy.

Chromium reads the proxy variables, but not for sites on loopback, and has its own certificate
store. The flags apply to the browser only: drivers and debugging channels on loopback stay direct.
"""

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warex.sandbox.cleanup.symlink_tree import SymlinkTree, create_symlink_tree

BROWSER_COMMANDS = (
    *("chrome", "chromium", "google-chrome", "google-chrome-stable", "chromium-browser"),
    *("chromium-headless-shell", "chrome-headless-shell"),
)
"""Names by which programs search for a browser; Selenium Manager uses the first."""

BROWSER_CACHE_VARIABLES = {
    "PLAYWRIGHT_BROWSERS_PATH": ".cache/ms-playwright",
    "PUPPETEER_CACHE_DIR": ".cache/puppeteer",
    "SE_CACHE_PATH": ".cache/selenium",
}
"""Caches of downloaded browsers: variable -> default path below ``$HOME``."""

BROWSER_PATH_VARIABLES = ("CHROME_PATH", "CHROME_BIN", "PUPPETEER_EXECUTABLE_PATH")
"""Variables that name one browser."""

_ONLY_IF_SET = frozenset({"PUPPETEER_EXECUTABLE_PATH"})
"""Set only if the user set it: otherwise Puppeteer uses the browser it was tested with."""

_PROGRAMS = frozenset({"chrome", "chromium", "headless_shell", "chrome-headless-shell"})
_DEPTH = 4
"""Largest number of folders between a cache and a browser."""

STARTED_FILE = "browser-started"
"""File that a shim creates when it starts its browser."""


@dataclass(frozen=True, slots=True)
class BrowserShims:
    """Variables and symlink trees by which programs find the shims."""

    variables: Mapping[str, str]
    symlink_trees: tuple[SymlinkTree, ...]


def write_shims(base: Mapping[str, str], flags: Sequence[str], scratch: Path) -> BrowserShims:
    """Write a shim for each browser that programs can find."""
    maker = _ShimWriter(tuple(flags), scratch)
    folder = scratch / "bin"
    folder.mkdir()
    variables: dict[str, str] = {}
    path = base.get("PATH", os.defpath)
    on_path = {
        name: program for name in BROWSER_COMMANDS if (program := shutil.which(name, path=path))
    }
    if on_path:
        default = next(iter(on_path.values()))
        for name, browser in {BROWSER_COMMANDS[0]: default, **on_path}.items():
            maker.write(Path(browser), folder / name)
        variables["PATH"] = f"{folder}{os.pathsep}{path}"
    for number, name in enumerate(BROWSER_PATH_VARIABLES):
        named = shutil.which(base[name], path=path) if base.get(name) else None
        if named is not None:
            maker.write(Path(named), folder / f"named-{number}")
            variables[name] = str(folder / f"named-{number}")
        elif on_path and name not in _ONLY_IF_SET and not base.get(name):
            variables[name] = str(folder / BROWSER_COMMANDS[0])
    trees = []
    for name, usual in BROWSER_CACHE_VARIABLES.items():
        # Playwright's 0 means a folder in its own package.
        real = Path(base.get(name) or Path(base.get("HOME", "/nonexistent")) / usual)
        if browsers := list(_browsers(real)):
            trees.append(create_symlink_tree(real, scratch / name.lower(), browsers, maker.write))
            variables[name] = str(trees[-1].shadow)
    return BrowserShims(variables, tuple(trees))


@dataclass(frozen=True, slots=True)
class _ShimWriter:
    flags: tuple[str, ...]
    scratch: Path

    def write(self, real: Path, shim: Path) -> None:
        write_wrapper(shim, real, self.flags, self.scratch / STARTED_FILE)


def write_wrapper(
    program: Path, browser: Path, arguments: Sequence[str] = (), mark: Path | None = None
) -> None:
    """Write a script that starts a browser with ``arguments`` after the caller's.

    It creates the file ``mark``.
    """
    lines = ["#!/bin/sh", "# WAREX starts this browser behind its proxy."]
    if mark is not None:
        lines.append(f": > {shlex.quote(str(mark))}")
    lines.append(f'exec {shlex.quote(str(browser))} "$@" {shlex.join(arguments)}\n')
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("\n".join(lines), "utf-8")
    program.chmod(0o755)


def _browsers(folder: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """Yield the browsers' programs below a folder."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    programs = [entry for entry in entries if entry.name in _PROGRAMS and _can_run(entry)]
    yield from (Path(entry.path) for entry in programs)
    if programs or depth == 0:
        return
    for entry in entries:
        # Skip other browsers at the top, which have many files.
        if entry.is_dir() and (depth < _DEPTH or "chrom" in entry.name):
            yield from _browsers(Path(entry.path), depth - 1)


def _can_run(entry: os.DirEntry[str]) -> bool:
    return entry.is_file() and os.access(entry.path, os.X_OK)
