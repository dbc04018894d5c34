"""Finds the trial around this process.

A client of MCP starts its servers with a few variables only (the official SDKs keep ``PATH``,
``HOME`` and the like), so the environments of this process's ancestors are read as well.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from warex.errors import InputError
from warex.sandbox.env_mode.browser_shims import BROWSER_CACHE_VARIABLES, BROWSER_PATH_VARIABLES
from warex.sandbox.environment import (
    ALL_PROXY_VARIABLES,
    CA_BUNDLE_VARIABLES,
    EXTRA_CA_VARIABLES,
    JAVA,
    SWITCHES,
)

PROXY: Final = "WAREX_PROXY"
TASK: Final = "WAREX_TASK"
_MARK: Final = "WAREX_COMMAND"
"""``warex exec`` and campaigns set it in the environment of their commands."""
_HTTP_PROXY: Final = ("HTTP_PROXY", "http_proxy")
_OF_TRIAL: Final = frozenset(
    (
        _MARK,
        *ALL_PROXY_VARIABLES,
        *SWITCHES,
        *CA_BUNDLE_VARIABLES,
        *EXTRA_CA_VARIABLES,
        *BROWSER_CACHE_VARIABLES,
        *BROWSER_PATH_VARIABLES,
        JAVA,
        "NODE_OPTIONS",
        "WGETRC",
        "XDG_DATA_HOME",
    )
)
"""What a trial sets, so that programs use its proxy and trust it."""
_MOST_ANCESTORS: Final = 64


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A trial around this process."""

    proxy: SplitResult | None
    """Its proxy's URL; None in a namespace, where each connection leads to it."""
    task: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the trial has set and this process's environment lacks: for its server's requests."""


def surroundings(environments: Iterator[Mapping[str, str]]) -> Surroundings | None:
    """Return the trial around a process; None for none. Raises InputError.

    ``environments``: of the process and of its ancestors, the nearest first.
    """
    task, own = "", None
    for environment in environments:
        own = environment if own is None else own
        task = task or environment.get(TASK, "")
        if named := environment.get(PROXY):
            return Surroundings(read_proxy(named, PROXY), task)
        if _MARK in environment:
            named = next((it for it in map(environment.get, _HTTP_PROXY) if it), None)
            lost = {it: environment[it] for it in _OF_TRIAL & environment.keys() - own.keys()}
            proxy = None if named is None else read_proxy(named, "HTTP_PROXY")
            return Surroundings(proxy, task, lost)
    return None


def read_proxy(text: str, where: str) -> SplitResult:
    """Return a proxy's URL; raise InputError, with the place ``where``, for any other text."""
    try:
        url = urlsplit(text)
        is_valid = url.scheme == "http" and url.hostname and url.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InputError(f"{where}: {text!r} is not a proxy; give one like http://127.0.0.1:8080")
    return url


def environments_around() -> Iterator[dict[str, str]]:
    """Yield the environments of this process and of its ancestors, as far as they can be read."""
    yield dict(os.environ)
    process = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        folder = Path("/proc", str(process))
        try:
            pairs = (folder / "environ").read_bytes().split(b"\0")
            # proc(5): "PID (NAME) STATE PPID …"; a name may hold anything.
            stat = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return
        yield dict(os.fsdecode(pair).partition("=")[::2] for pair in pairs if b"=" in pair)
        process = int(stat[1])
        if process == 0:
            return
