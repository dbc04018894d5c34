"""`warex metrics`: the figures of a report, and what one of them means."""

import click

from warex.cli import completion
from warex.cli.group import listing
from warex.cli.options.parameters import json_option
from warex.cli.output import echo, echo_columns, echo_json, echo_rows, first_line
from warex.errors import InputError


@listing("metrics")
def command(as_json: bool) -> None:
    """List the figures of a report; `show NAME`."""
    from warex.analysis.metrics.row import METRICS

    if as_json:
        echo_json(
            [
                {"name": each.key, "definition": each.definition, "unit": each.unit}
                for each in METRICS
            ]
        )
        return
    rows = [{"name": each.key, "definition": first_line(each.definition)} for each in METRICS]
    echo_rows(rows, 24, as_json=False)


@command.command("show")
@click.argument("name", shell_complete=completion.METRIC)
@json_option
def show(name: str, as_json: bool) -> None:
    """Print a figure's definition, its unit and the columns that have it."""
    from warex.analysis.metrics.row import METRICS
    from warex.analysis.output.thresholds import NUMBERS
    from warex.scenarios.mistakes import unknown_name

    metric = next((each for each in METRICS if each.key == name), None)
    if metric is None:
        raise InputError(unknown_name("there is no metric", name, [it.key for it in METRICS]))
    columns = {column: kind.__name__ for column, kind in metric.columns.items()}
    if as_json:
        echo_json(
            {
                "name": metric.key,
                "definition": metric.definition,
                "unit": metric.unit,
                "better": metric.better,
                "columns": columns,
                "threshold": name in NUMBERS,
            }
        )
        return
    echo(f"{metric.key}: {metric.definition}")
    echo_columns("  unit", metric.unit, 12)
    if metric.better is not None:
        echo_columns("  better", metric.better, 12)
    if name in NUMBERS:
        echo_columns("  threshold", f"--fail-under '{name}>=…'", 12)
    echo_columns("  columns", ", ".join(columns), 12)
