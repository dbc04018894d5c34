"""Traffic options of every command with a proxy."""

import functools
from collections.abc import Callable
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from warex.cli import completion
from warex.traffic import TrafficOptions, option_of, read_origin


class _Text(click.ParamType[str]):
    """A text parsed by a function."""

    name = "text"

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the function's result; fail if it raises ValueError."""
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


scenario_option = click.option(
    "--scenario",
    metavar="S",
    help="A preset or a file; left out, no fault.",
    shell_complete=completion.SCENARIO,
)

replay_option = click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="TRIAL",
    help="Inject exactly the faults of this trial's ledger, with its scenario and seed.",
)

site_option = click.option(
    "--site",
    "sites",
    multiple=True,
    type=_Text(read_origin),
    metavar="ORIGIN",
    help="A task site, for {sites}; left out, everything outside `never`.",
)

vocabulary_option = click.option(
    "--vocabulary",
    metavar="V",
    help="The agent's actions: a benchmark's name, or a file of lists. Left out, told by name.",
    shell_complete=completion.VOCABULARY,
)

defence_option = click.option(
    "--defence",
    metavar="D",
    help="Add this to the system prompt of LLM requests: a name of `warex defences`, or a file.",
    shell_complete=completion.DEFENCE,
)

tasks_option = click.option(
    "--tasks",
    "tasks",
    metavar="RULE",
    help="Tell tasks apart by their traffic: a harness, conversation, text:REGEX or url:REGEX.",
    shell_complete=completion.TASKS,
)


def traffic_options[R](command: Callable[..., R]) -> Callable[..., R]:
    """Add the fields of ``TrafficOptions`` to a command, passed as ``traffic`` if typed."""
    known = fields(TrafficOptions)

    @functools.wraps(command)
    def with_traffic(*arguments: Any, **options: Any) -> R:
        source = click.get_current_context().get_parameter_source
        given = {each.name: options.pop(each.name) for each in known}
        typed = {name: given[name] for name in given if source(name) != ParameterSource.DEFAULT}
        return command(*arguments, traffic=typed, **options)

    wrapped: Callable[..., R] = with_traffic
    for each in reversed(known):
        wrapped = _option(each)(wrapped)
    return wrapped


def _option(field: Field[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    option = option_of(field)
    kind: click.ParamType[Any] | None = None
    if option.choices:
        kind = click.Choice(option.choices)
    elif option.metavar is not None:
        kind = _Text(option.read)
    return click.option(
        option.flag,
        field.name,
        type=kind,
        is_flag=field.default is False,
        multiple=field.default == (),
        default=field.default,
        show_default=bool(field.default),
        metavar=option.metavar,
        help=field.metadata["description"],
    )
