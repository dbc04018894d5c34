"""`--fail-under`: exit code 1 for a run that does not reach thresholds."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from warex.cli.output import echo
from warex.errors import WarexError

if TYPE_CHECKING:
    from warex.analysis.table.tabulate import Table


def fail_under_option[F: Callable[..., Any]](command: F) -> F:
    """Add the option to a command; it is parsed before anything runs."""
    return click.option(
        "--fail-under",
        metavar="EXPR",
        callback=_parse,
        help="End with exit code 1 where the run does not reach this, as recovery>=0.8 or"
        " server-error.delta>=-0.1, joined by `and`.",
    )(command)


def check_thresholds(table: "Table", expression: str | None) -> None:
    """Raise WarexError with a sentence per row that misses a threshold; print inconclusive ones."""
    if expression is None:
        return
    from warex.analysis.output.thresholds import failed_thresholds, inconclusive_thresholds

    for sentence in inconclusive_thresholds(table, expression):
        echo(sentence, err=True)
    if found := failed_thresholds(table, expression):
        lines = "".join(f"\n  {sentence}" for sentence in found)
        raise WarexError(f"the run does not meet --fail-under:{lines}")


def _parse(_context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    if given is not None:
        from warex.analysis.output.thresholds import parse_thresholds

        parse_thresholds(given)
    return given
