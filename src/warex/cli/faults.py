"""`warex faults`: what there is, and the parameters of one."""

import click

from warex.errors import InputError
from warex.faults import CATALOGUE


@click.group("faults", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List the faults; `show NAME`."""
    if context.invoked_subcommand is None:
        for fault in CATALOGUE:
            click.echo(f"{fault.model_fields['kind'].default:20} {fault.summary}")


@command.command("show")
@click.argument("name")
def show(name: str) -> None:
    """Print a fault's parameters, their defaults and what is allowed."""
    by_kind = {fault.model_fields["kind"].default: fault for fault in CATALOGUE}
    if name not in by_kind:
        raise InputError(f"there is no fault {name!r}; there are: {', '.join(by_kind)}")
    fault = by_kind[name]
    click.echo(f"{name}: {fault.summary}")
    properties = fault.model_json_schema()["properties"]
    for key, schema in properties.items():
        if key == "kind":
            continue
        default = schema.get("default")
        meaning = " ".join(schema.get("description", "").split())
        click.echo(f"  {key:12} default {default!s:10} {meaning}")
