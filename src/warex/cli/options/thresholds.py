"""`--fail-under`: exit code 1 for a run that does not reach what is demanded."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from warex.cli.output import echo
from warex.errors import WarexError

if TYPE_CHECKING:
    from warex.analysis.table.tabulate import Table


def fail_under_option[F: Callable[..., Any]](command: F) -> F:
    """Add the option to a command; what it demands is read before anything is run."""
    return click.option(
        "--fail-under",
        metavar="EXPR",
        callback=_parse,
        help="End with exit code 1 where the run does not reach this, as recovery>=0.8 or"
        " server-error.delta>=-0.1, joined by `and`.",
    )(command)


def check_thresholds(table: "Table", expression: str | None) -> None:
    """Raise WarexError with a sentence for each row that does not reach what is demanded.

    What falls short by what may be chance is said, and passes.
    """
    if expression is None:
        return
    from warex.analysis.output.thresholds import failed_thresholds, inconclusive_thresholds

    for sentence in inconclusive_thresholds(table, expression):
        echo(sentence, err=True)
    found = failed_thresholds(table, expression)
    if found:
        lines = "".join(f"\n  {shortfall.sentence}" for shortfall in found)
        raise WarexError(f"the run does not meet --fail-under:{lines}")


def _parse(_context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    if given is not None:
        from warex.analysis.output.thresholds import parse_thresholds

        parse_thresholds(given)
    return given
