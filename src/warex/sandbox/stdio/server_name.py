"""What a server of tools is called: the host of its address ``mcp+stdio://NAME/``."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

_LAUNCHERS: Final = re.compile(r"npx|bunx|uvx|node|deno|bun|python[0-9.]*|(?:ba|da|z)?sh")
"""Programs that run what their first argument without a dash names."""
_FILE_ENDINGS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".exe")
_LONGEST: Final = 60


def server_name(arguments: Sequence[str]) -> str:
    """Return the name of the server that a command starts.

    It is the name of the program, or of what a launcher runs: a script, a module, or a package
    without its version. Other arguments may hold secrets.
    """
    program = PurePath(arguments[0]).name.lower()
    if _LAUNCHERS.fullmatch(program.removesuffix(".exe")):
        named = next((word for word in arguments[1:] if not word.startswith("-")), None)
        if named is not None and " " not in named:
            return _as_host(_package(named)) or _as_host(program)
    return _as_host(program) or "server"


def _package(named: str) -> str:
    *_, package = named.rpartition("node_modules/")
    if package.startswith("@"):  # With a scope: @playwright/mcp@latest.
        return "/".join(package[1:].partition("@")[0].split("/")[:2])
    name = package.partition("/")[0] if package != named else PurePath(named).name
    return re.split(r"@|==", name, maxsplit=1)[0]


def _as_host(name: str) -> str:
    name = name.lower()
    for ending in _FILE_ENDINGS:
        name = name.removesuffix(ending)
    return re.sub(r"[^a-z0-9._-]+", "-", name)[:_LONGEST].strip(".-_")
