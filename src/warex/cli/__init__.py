"""The command line: one module for each command.

``warex.cli.app`` is imported only to parse: `warex exec` starts its proxy, the slowest part, first.
"""

import os
import sys
from typing import TYPE_CHECKING

from warex.cli import prewarm

if TYPE_CHECKING:
    from warex.cli.app import cli

__all__ = ["cli", "main"]


def __getattr__(name: str) -> object:
    if name != "cli":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from warex.cli.app import cli

    return cli


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code (see ``app.run``)."""
    if sys.platform == "win32":
        sys.stderr.write(
            "warex: WAREX runs on Linux and macOS, not on Windows: use it inside WSL 2\n"
        )
        sys.exit(3)
    _have_streams()
    argv = sys.argv[1:] if arguments is None else arguments
    # Without arguments it is the program itself, which has one thread and has loaded little. On
    # macOS, system libraries may break in a copy without an interpreter of its own.
    forks = arguments is None and sys.platform == "linux"
    try:
        with prewarm.prewarmed(argv, forks=forks):
            from warex.cli.app import run

            code = run(argv)
    except KeyboardInterrupt:
        # The interrupt came before or after the command.
        from warex.cli.output import echo

        echo("interrupted", err=True)
        code = 130
    sys.exit(code)


def _have_streams() -> None:
    """Open closed standard streams, so that no other file gets their descriptors."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - until the exit
