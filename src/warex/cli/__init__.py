"""The command line: one file for each command; it parses, calls, prints."""

import sys
from importlib import import_module
from typing import Final

import click

from warex.errors import WarexError

_COMMANDS: Final = {
    "addon": "print a file for `mitmdump -s`",
    "benchmarks": "list the benchmarks, show one",
    "ca": "show where WAREX's certificate authority is",
    "demo": "run the embedded campaign, start to report",
    "doctor": "what works on this machine, and how to mend the rest",
    "faults": "list the faults, show one",
    "inspect": "one trial: where each number comes from",
    "proxy": "the proxy alone, under a scenario",
    "report": "the tables and the report of a run",
    "run": "run a campaign",
    "scenarios": "list the preset scenarios, show one, check a file",
    "schema": "print a JSON Schema",
}
"""Every command and its line of help; its file is imported only when it is called."""


class _Lazy(click.Group):
    """Loads a command when it is called: mitmproxy alone takes a second."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"warex.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="warex")
def cli() -> None:
    """Does your web agent survive the real web?

    WAREX stands at the network between an unmodified agent and an unmodified benchmark, injects
    what the real web does, and records what happened.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    0: done; 1: the experiment failed; 2: bad input; 3: the machine lacks something; 130:
    interrupted.
    """
    try:
        code = cli.main(arguments, prog_name="warex", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except WarexError as error:
        click.echo(f"warex: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has enough of it, as `| head` does.
        sys.stdout = None
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)
