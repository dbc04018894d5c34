"""`--fail-under` and `--on-unclear`: the exit code of a run by thresholds."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import click

from warex.cli.output import echo
from warex.errors import CannotTell, InputError, WarexError

if TYPE_CHECKING:
    from warex.analysis.output.thresholds import Judgement
    from warex.analysis.table.tabulate import Table

type OnUnclear = Literal["pass", "fail"]


def fail_under_option[F: Callable[..., Any]](command: F) -> F:
    """Add ``--fail-under``, which is parsed before anything runs, and ``--on-unclear``."""
    return click.option(
        "--fail-under",
        metavar="EXPR",
        callback=_parse,
        help="Exit with 1 unless recovery>=0.8, server-error.delta>=-0.1, …, joined by `and`;"
        " with 4 if that cannot be decided.",
    )(on_unclear_option(command))


def on_unclear_option[F: Callable[..., Any]](command: F) -> F:
    """Add ``--on-unclear`` to a command with a gate."""
    return click.option(
        "--on-unclear",
        type=click.Choice(["pass", "fail"]),
        help="Exit with 0 or 1 where a gate cannot tell. [default: exit with 4]",
    )(command)


def check_on_unclear(on_unclear: OnUnclear | None, *gates: object) -> None:
    """Raise InputError if the option is given without a gate."""
    if on_unclear is not None and not any(gates):
        raise InputError("--on-unclear says how a gate ends, and no gate is given")


def judge_thresholds(table: "Table", expression: str | None) -> "Judgement | None":
    """Hold a run against ``--fail-under``; None if it is not given."""
    if expression is None:
        return None
    from warex.analysis.output.thresholds import judge_run

    return judge_run(table, expression)


def enforce_thresholds(judgement: "Judgement | None", on_unclear: OnUnclear | None) -> None:
    """Raise WarexError if a run is below thresholds, CannotTell if chance leaves it open."""
    if judgement is not None:
        enforce(
            judgement,
            on_unclear,
            "the run does not meet --fail-under",
            "the run meets --fail-under",
        )


def enforce(
    judgement: "Judgement", on_unclear: OnUnclear | None, failure: str, question: str
) -> None:
    """Raise WarexError, with a sentence per row, if a gate is broken, or unclear and that fails.

    Raises CannotTell if it is unclear and nothing was decided for that. ``failure`` says what a
    broken gate means, ``question`` what an unclear one leaves open.
    """
    if judgement.broken:
        for sentence in judgement.unclear:
            echo(sentence, err=True)
        raise WarexError(f"{failure}:{_lines(judgement.broken)}")
    if not judgement.unclear:
        return
    message = f"it cannot be decided whether {question}:{_lines(judgement.unclear)}"
    match on_unclear:
        case "pass":
            echo(message, err=True)
        case "fail":
            raise WarexError(message)
        case None:
            raise CannotTell(message)


def _lines(sentences: tuple[str, ...]) -> str:
    return "".join(f"\n  {sentence}" for sentence in sentences)


def _parse(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from warex.analysis.output.thresholds import parse_thresholds

        parse_thresholds(value)
    return value
