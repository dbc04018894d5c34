"""`warex defences`: lists the defences, or prints the text of one."""

import click

from warex.cli import completion
from warex.cli.group import listing
from warex.cli.options.parameters import json_option
from warex.cli.output import echo, echo_json, echo_rows
from warex.errors import InputError


@listing("defences")
def command(as_json: bool) -> None:
    """List the defences, texts added to an agent's system prompt; `show NAME`."""
    from warex.llm.defences import DEFENCES

    rows = [{"name": defence.name, "summary": defence.summary} for defence in DEFENCES]
    echo_rows(rows, 20, as_json=as_json)


@command.command("show")
@click.argument("name", shell_complete=completion.DEFENCE_NAME)
@json_option
def show(name: str, as_json: bool) -> None:
    """Print a defence's text."""
    from warex.llm.defences import DEFENCES, no_such_defence

    defence = next((defence for defence in DEFENCES if defence.name == name), None)
    if defence is None:
        raise InputError(no_such_defence(name))
    if as_json:
        echo_json(defence.model_dump())
        return
    echo(f"{defence.name}: {defence.summary}\n\n{defence.text}")
