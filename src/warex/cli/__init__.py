"""The command line: one file for each command; it parses, calls, prints.

What reads it (`program`) is imported only when it is read: `warex exec` begins its slowest part,
the proxy's start, before.
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
    """Run the command line and exit with its code (see ``program.run``)."""
    _have_streams()
    given = sys.argv[1:] if arguments is None else arguments
    try:
        with prewarm.prewarmed(given):
            from warex.cli.app import run

            code = run(given)
    except KeyboardInterrupt:
        # It came before there was a command, or after.
        from warex.cli.output import echo

        echo("interrupted", err=True)
        code = 130
    sys.exit(code)


def _have_streams() -> None:
    """Open what the caller has closed, or a file of ours would be taken for it, by commands too."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - until the exit
