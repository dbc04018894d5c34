"""`warex faults`: lists the faults, or prints the parameters of one."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from warex.cli import completion
from warex.cli.group import listing
from warex.cli.output import echo, echo_columns, echo_json, echo_rows
from warex.errors import InputError


@listing("faults")
def command(as_json: bool) -> None:
    """List the faults; `show NAME`."""
    from warex.faults import CATALOGUE

    rows = [
        {"kind": fault.model_fields["kind"].default, "summary": fault.summary}
        for fault in CATALOGUE
    ]
    echo_rows(rows, 20, as_json=as_json)


@command.command("show")
@click.argument("name", shell_complete=completion.FAULT)
@click.option("--json", "as_json", is_flag=True, help="Print its JSON Schema.")
def show(name: str, as_json: bool) -> None:
    """Print a fault's parameters, their defaults and allowed values."""
    from warex.faults import CATALOGUE
    from warex.scenarios.mistakes import unknown_name

    by_kind = {fault.model_fields["kind"].default: fault for fault in CATALOGUE}
    if name not in by_kind:
        raise InputError(unknown_name("there is no fault", name, tuple(by_kind)))
    schema = by_kind[name].model_json_schema()
    if as_json:
        echo_json(schema)
        return
    echo(f"{name}: {by_kind[name].summary}")
    for key, parameter in schema["properties"].items():
        if key == "kind":
            continue
        meaning = " ".join(parameter.get("description", "").split())
        if allowed := ", ".join(_allowed(parameter, schema)):
            meaning = f"{meaning} Allowed: {allowed}.".lstrip()
        default = parameter.get("default")
        usual = "optional" if default is None else f"default {json.dumps(default).strip('"')}"
        echo_columns(f"  {key:12} {usual:18}", meaning, 33)


def _allowed(parameter: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a parameter's JSON Schema allows: single words, or a range of numbers."""
    if reference := parameter.get("$ref"):
        yield from _allowed(schema["$defs"][reference.rpartition("/")[2]], schema)
    for one in parameter.get("anyOf", ()):
        yield from _allowed(one, schema)
    yield from map(str, parameter.get("enum", ()))
    if "const" in parameter:
        yield str(parameter["const"])
    most, below = parameter.get("maximum"), parameter.get("exclusiveMaximum")
    if most is not None or below is not None:
        end = f"{most:.10g}" if below is None else f"below {below:g}"
        least, above = parameter.get("minimum"), parameter.get("exclusiveMinimum")
        yield f"{least:g} to {end}" if above is None else f"above {above:g} to {end}"
