"""Traffic options of every command with a proxy."""

import functools
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any

import click
from click.core import ParameterSource

from warex.cli import completion
from warex.cli.options.parameters import PATH, Parsed, add_options
from warex.traffic import TrafficOptions, option_of, read_origin

site_option = click.option(
    "--site",
    "sites",
    multiple=True,
    type=Parsed(read_origin),
    metavar="ORIGIN",
    help="A task site, for {sites}. [default: all outside `never`]",
)

proxy_options = add_options(
    click.option(
        "--scenario",
        metavar="S",
        help="A preset or a file. [default: no faults]",
        shell_complete=completion.SCENARIO,
    ),
    click.option("--seed", type=int, default=1, help="Seed of all random choices."),
    site_option,
    click.option("-o", "--out", type=PATH, help="Folder for events.jsonl."),
    click.option("-v", "--verbose", is_flag=True, help="Print each fault as it ends."),
    click.option(
        "--replay",
        type=PATH,
        metavar="TRIAL",
        help="Repeat the faults, scenario and seed of this trial.",
    ),
    click.option(
        "--defence",
        metavar="D",
        help="Add a defence's or file's text to LLM system prompts.",
        shell_complete=completion.DEFENCE,
    ),
    click.option(
        "--tasks",
        metavar="RULE",
        help="Separate tasks by harness, conversation, text:REGEX or url:REGEX.",
        shell_complete=completion.TASKS,
    ),
)


def traffic_options[R](command: Callable[..., R]) -> Callable[..., R]:
    """Add the fields of ``TrafficOptions`` to a command, passed as ``traffic`` if typed."""
    known = fields(TrafficOptions)

    @functools.wraps(command)
    def with_traffic(*arguments: Any, **options: Any) -> R:
        source = click.get_current_context().get_parameter_source
        traffic = {each.name: options.pop(each.name) for each in known}
        typed = {name: traffic[name] for name in traffic if source(name) != ParameterSource.DEFAULT}
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
        kind = Parsed(option.read)
    return click.option(
        option.flag,
        field.name,
        type=kind,
        is_flag=field.default is False,
        multiple=field.default == (),
        default=field.default,
        metavar=option.metavar,
        help=field.metadata["description"],
    )
