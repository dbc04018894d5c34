"""The command line's main group.

A command imports its dependencies when it runs, not for its help: they take half a second.
"""

import os
import sys
from importlib import import_module
from io import StringIO
from typing import Final

import click

from warex.cli.group import Group
from warex.cli.output import echo, warn
from warex.errors import MachineError, WarexError
from warex.extras import documentation
from warex.text.english import nearest
from warex.version import VERSION

_COMMANDS: Final = {
    "ablate": ("training", "train on parts of a data set, to find what matters in it"),
    "addon": ("intercept", "print a file for `mitmdump -s`"),
    "benchmarks": ("catalogue", "list the benchmarks, show one"),
    "ca": ("intercept", "show where WAREX's certificate authority is"),
    "compare": ("results", "compare two agents or versions: better, worse, or cannot tell"),
    "defences": (
        "catalogue",
        "list the defences (texts added to an agent's system prompt), show one",
    ),
    "demo": ("campaigns", "run the embedded campaign, start to report"),
    "diff": (
        "results",
        "where two trials diverge: the first step that differs, and the fault before",
    ),
    "doctor": ("campaigns", "what works on this machine, and how to fix the rest"),
    "evaluate": ("training", "the recovery test of a model and its adapters"),
    "exec": ("intercept", "run any command behind the proxy, unchanged"),
    "export": ("results", "write runs as a data set for training, or for other tools"),
    "faults": ("catalogue", "list the faults, show one"),
    "init": ("campaigns", "write a commented campaign file"),
    "inspect": ("results", "one trial, step by step: faults, prompts, answers"),
    "iptables": ("intercept", "redirect a user's traffic to the proxy (nftables, iptables)"),
    "judge": ("results", "let a model read what last answers claim: success or failure"),
    "mcp": ("intercept", "a server of tools on standard input and output, behind WAREX"),
    "metrics": ("catalogue", "list the figures of a report, show one"),
    "prices": ("catalogue", "show what models cost; update it from public collections"),
    "proxy": ("intercept", "run the proxy alone, with a scenario"),
    "report": ("results", "print a run's results and write its report"),
    "run": ("campaigns", "run a campaign"),
    "scenarios": ("catalogue", "list the preset scenarios, show one, check a file"),
    "schema": ("catalogue", "print a JSON Schema"),
    "serve": ("training", "serve a model and its adapters to agents"),
    "train": ("training", "train a LoRA adapter on a data set"),
    "view": ("results", "look at runs in the browser"),
}
"""Each command's package and line of help."""

_SECTIONS: Final = {
    "Test an agent": ("exec", "proxy", "run", "report", "compare", "inspect", "diff", "view"),
    "Prepare a test": (
        "demo",
        "doctor",
        "init",
        "scenarios",
        "faults",
        "benchmarks",
        "defences",
        "metrics",
    ),
    "Data and training": ("judge", "export", "train", "evaluate", "ablate", "serve"),
    "Plumbing": ("addon", "ca", "iptables", "mcp", "prices", "schema"),
}
"""The commands as the help lists them."""

_EXAMPLES: Final = {
    "ablate": ("ablate --data data --model MODEL --out ablated", "how-to/train-your-agent"),
    "addon": ("addon > warex_addon.py", "how-to/stock-mitmproxy"),
    "benchmarks": ("benchmarks show webarena", "reference/benchmarks"),
    "ca": ("ca --pem > ca.pem", "how-to/point-your-agent-at-it"),
    "compare": ("compare runs/before runs/now --fail-if-worse", "how-to/ci"),
    "defences": ("defences show injection-warning", "reference/defences"),
    "demo": ("demo", "tutorial"),
    "diff": ("diff TRIAL TRIAL", "tutorial"),
    "doctor": ("doctor", "how-to/install"),
    "evaluate": ("evaluate --model MODEL", "reference/recovery-test"),
    "exec": ("exec --scenario paper/server-error -o trial -- python agent.py", "how-to/exec"),
    "export": ("export runs/now --to har --out har", "reference/runs-for-other-tools"),
    "faults": ("faults show http_error", "reference/faults"),
    "init": ("init --from paper", "reference/campaigns"),
    "inspect": ("inspect trial", "reference/trace-format"),
    "iptables": ("iptables apply --user agent --port 8080", "how-to/iptables"),
    "judge": ("judge runs/now --model MODEL", "reference/report"),
    "mcp": ("mcp -- python server.py", "how-to/tools-over-stdio"),
    "metrics": ("metrics show recovery", "reference/report"),
    "prices": ("prices show gpt-4o", "reference/campaigns"),
    "proxy": ("proxy --scenario paper/server-error -o trial", "how-to/point-your-agent-at-it"),
    "report": ("report runs/now --full", "reference/report"),
    "run": ("run campaign.toml -o runs/now", "reference/campaigns"),
    "scenarios": ("scenarios check mine.yaml", "how-to/write-a-scenario"),
    "schema": ("schema scenario", "reference/scenarios"),
    "serve": ("serve --model MODEL", "reference/recovery-test"),
    "train": ("train --data data --model MODEL --out adapter", "how-to/train-your-agent"),
    "view": ("view runs/now", "how-to/view"),
}
"""An example of each command, and the page of the documentation that says more."""


class _LazyGroup(Group):
    """Imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        folder, _ = _COMMANDS[name]
        command: click.Command = import_module(f"warex.cli.{folder}.{name}").command
        example, page = _EXAMPLES[name]
        command.epilog = f"\b\nExample: warex {example}\nMore:    {documentation(page)}"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, names in _SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, _COMMANDS[name][1]) for name in names])


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(VERSION, "-V", "--version", prog_name="warex")
def cli() -> None:
    """Does your web agent survive the real web?

    WAREX is a proxy between an unmodified agent and an unmodified benchmark. It injects the
    failures of the real web and records what happens.
    """


def run(argv: list[str]) -> int:
    """Run the command line and return its exit code.

    0: done; 1: the experiment failed; 2: bad input; 3: the machine lacks something; 4: a gate
    cannot tell; 130: interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end a campaign.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        # The command line as typed, for the manifest.
        typed = ("warex", *argv)
        code = cli.main(argv, prog_name="warex", standalone_mode=False, obj=typed)
        sys.stdout.flush()
    except click.ClickException as error:
        words = StringIO()
        _with_near_option(error).show(file=words)
        echo(words.getvalue(), err=True, end="")
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        echo("interrupted", err=True)
        return 130
    except WarexError as error:
        warn(error)
        return error.exit_code
    except (BrokenPipeError, SystemExit):
        # The reader closed the pipe, as `| head` does; click turns this into an exit.
        _drop_output()
        return 0
    except RuntimeError as error:
        # Of all RuntimeErrors, only this one is the machine's.
        if "can't start new thread" not in str(error):
            return _report_plugin(error)
        warn(f"no thread can be started; {_MORE_PROCESSES}")
        return MachineError.exit_code
    except BlockingIOError as error:
        warn(f"{error.strerror}; {_MORE_PROCESSES}")
        return MachineError.exit_code
    except OSError as error:
        _drop_output()
        where = f"{error.filename}: " if error.filename else ""
        warn(f"{where}{error.strerror or error}")
        return MachineError.exit_code
    except Exception as error:  # noqa: BLE001 - raised again unless it is another distribution's
        return _report_plugin(error)
    return code if isinstance(code, int) else 0


def _report_plugin(error: Exception) -> int:
    """Report an error of a plug-in; raise any other, which is a defect of WAREX."""
    from warex.plugins import plugin_failure

    failure = plugin_failure(error)
    if failure is None:
        raise error
    warn(failure)
    return MachineError.exit_code


def _with_near_option(error: click.ClickException) -> click.ClickException:
    """Return an error whose guess for an unknown option is near: click counts the dashes, too."""
    if not isinstance(error, click.NoSuchOption):
        return error
    by_word = {each.lstrip("-"): each for each in error.possibilities or ()}
    near = nearest(error.option_name.lstrip("-"), by_word)
    guess = "." if near is None else f"; did you mean {by_word[near]!r}?"
    return click.UsageError(f"{error.message.rstrip('.')}{guess}", error.ctx)


_MORE_PROCESSES = "raise the limit of processes (ulimit -u), or end some"


def _drop_output() -> None:
    """Discard Python's flush at exit, which would report the broken pipe again."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
