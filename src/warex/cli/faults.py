"""`warex faults`: what there is, and the parameters of one."""

import json

import click

from warex.cli.group import Group
from warex.cli.say import say


@click.group("faults", cls=Group, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the faults; `show NAME`."""
    if context.invoked_subcommand is not None:
        return
    from warex.faults import CATALOGUE

    kinds = {fault.model_fields["kind"].default: fault for fault in CATALOGUE}
    if as_json:
        rows = [{"kind": kind, "summary": fault.summary} for kind, fault in kinds.items()]
        say(json.dumps(rows, indent=2))
        return
    for kind, fault in kinds.items():
        say(f"{kind:20} {fault.summary}")


@command.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print its JSON Schema.")
def show(name: str, as_json: bool) -> None:
    """Print a fault's parameters, their defaults and what is allowed."""
    from warex.errors import InputError
    from warex.faults import CATALOGUE
    from warex.scenarios.mistakes import not_among

    by_kind = {fault.model_fields["kind"].default: fault for fault in CATALOGUE}
    if name not in by_kind:
        raise InputError(not_among("there is no fault", name, tuple(by_kind)))
    schema = by_kind[name].model_json_schema()
    if as_json:
        say(json.dumps(schema, indent=2))
        return
    say(f"{name}: {by_kind[name].summary}")
    for key, parameter in schema["properties"].items():
        if key == "kind":
            continue
        meaning = " ".join(parameter.get("description", "").split())
        say(f"  {key:12} default {parameter.get('default')!s:10} {meaning}")
