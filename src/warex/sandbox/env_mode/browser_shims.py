"""Browsers that know the proxy: a small program before each Chromium that the command can find.

Chromium heeds the proxy variables, but not for sites on this machine, and has a certificate store
of its own. Flags tell it both. They are given to the browser alone: drivers and debugging channels
on loopback stay direct.
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
"""Names by which programs look for a browser; Selenium's manager asks for the first."""

BROWSER_CACHE_VARIABLES = {
    "PLAYWRIGHT_BROWSERS_PATH": ".cache/ms-playwright",
    "PUPPETEER_CACHE_DIR": ".cache/puppeteer",
    "SE_CACHE_PATH": ".cache/selenium",
}
"""Where tools keep the browsers that they download: the variable, and the place below ``$HOME``."""

BROWSER_PATH_VARIABLES = ("CHROME_PATH", "CHROME_BIN", "PUPPETEER_EXECUTABLE_PATH")
"""Variables that name one browser."""

_ONLY_IF_SET = frozenset({"PUPPETEER_EXECUTABLE_PATH"})
"""Set only where the user set it: puppeteer takes the browser it was tested with, otherwise."""

_PROGRAMS = frozenset({"chrome", "chromium", "headless_shell", "chrome-headless-shell"})
_DEPTH = 4
"""Folders between a cache and a browser in it, at most."""

STARTED_FILE = "browser-started"
"""File that a shim leaves behind when it starts its browser."""


@dataclass(frozen=True, slots=True)
class BrowserShims:
    """What makes a command's browsers use the proxy."""

    variables: Mapping[str, str]
    symlink_trees: tuple[SymlinkTree, ...]


def write_shims(base: Mapping[str, str], flags: Sequence[str], scratch: Path) -> BrowserShims:
    """Write a shim for each browser that programs can find; return how they find the shims."""
    maker = _ShimWriter(tuple(flags), scratch)
    folder = scratch / "bin"
    folder.mkdir()
    variables: dict[str, str] = {}
    path = base.get("PATH", os.defpath)
    on_path = {name: found for name in BROWSER_COMMANDS if (found := shutil.which(name, path=path))}
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
    farms = []
    for name, usual in BROWSER_CACHE_VARIABLES.items():
        # Playwright's 0 means: inside its own package.
        real = Path(base.get(name) or Path(base.get("HOME", "/nonexistent")) / usual)
        if browsers := list(_browsers(real)):
            farms.append(create_symlink_tree(real, scratch / name.lower(), browsers, maker.write))
            variables[name] = str(farms[-1].shadow)
    return BrowserShims(variables, tuple(farms))


@dataclass(frozen=True, slots=True)
class _ShimWriter:
    flags: tuple[str, ...]
    scratch: Path

    def write(self, real: Path, shim: Path) -> None:
        write_wrapper(shim, real, self.flags, self.scratch / STARTED_FILE)


def write_wrapper(
    program: Path, browser: Path, arguments: Sequence[str] = (), mark: Path | None = None
) -> None:
    """Write a program that starts a browser with our arguments behind the caller's: they win.

    ``mark`` is a file that it leaves behind.
    """
    lines = ["#!/bin/sh", "# WAREX starts this browser behind its proxy."]
    if mark is not None:
        lines.append(f": > {shlex.quote(str(mark))}")
    lines.append(f'exec {shlex.quote(str(browser))} "$@" {shlex.join(arguments)}\n')
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("\n".join(lines), "utf-8")
    program.chmod(0o755)


def _browsers(folder: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """Return the browsers' programs below a folder."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    programs = [entry for entry in entries if entry.name in _PROGRAMS and _can_run(entry)]
    yield from (Path(entry.path) for entry in programs)
    if programs or depth == 0:
        return
    for entry in entries:
        # At the top stand other browsers, too, of many files.
        if entry.is_dir() and (depth < _DEPTH or "chrom" in entry.name):
            yield from _browsers(Path(entry.path), depth - 1)


def _can_run(entry: os.DirEntry[str]) -> bool:
    return entry.is_file() and os.access(entry.path, os.X_OK)
