"""`warex defences`: what there is, and the text of one."""

import json

import click

from warex.cli import completion
from warex.cli.group import Group
from warex.cli.output import echo, echo_columns


@click.group("defences", cls=Group, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the defences, texts added to an agent's system prompt; `show NAME`."""
    if context.invoked_subcommand is not None:
        return
    from warex.llm.defences import DEFENCES

    if as_json:
        rows = [{"name": defence.name, "summary": defence.summary} for defence in DEFENCES]
        echo(json.dumps(rows, indent=2))
        return
    for defence in DEFENCES:
        echo_columns(defence.name, defence.summary, 20)


@command.command("show")
@click.argument("name", shell_complete=completion.DEFENCE_NAME)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Print a defence's text, as it is added to the system prompt."""
    from warex.errors import InputError
    from warex.llm.defences import DEFENCES, no_such_defence

    defence = next((defence for defence in DEFENCES if defence.name == name), None)
    if defence is None:
        raise InputError(no_such_defence(name))
    if as_json:
        echo(json.dumps(defence.model_dump(), indent=2))
        return
    echo(f"{defence.name}: {defence.summary}\n\n{defence.text}")
