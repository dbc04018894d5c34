"""`warex benchmarks`: what can be run."""

import json

import click

from warex.cli.group import Group


@click.group("benchmarks", cls=Group, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the benchmarks; `show NAME`."""
    if context.invoked_subcommand is not None:
        return
    from warex.benchmarks import BENCHMARKS

    if as_json:
        rows = [{"name": kind.name, "summary": kind.summary} for kind in BENCHMARKS]
        click.echo(json.dumps(rows, indent=2))
        return
    for kind in BENCHMARKS:
        click.echo(f"{kind.name:12} {kind.summary}")


@command.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Print a benchmark's tasks and the agent's actions."""
    from warex.benchmarks import BenchmarkTable, benchmark_of

    benchmark = benchmark_of(BenchmarkTable(name=name))
    tasks, words = benchmark.tasks(), benchmark.vocabulary.model_dump(mode="json")
    if as_json:
        shown = {"name": benchmark.name, "summary": benchmark.summary}
        click.echo(json.dumps({**shown, "vocabulary": words, "tasks": tasks}, indent=2))
        return
    click.echo(f"{benchmark.name}: {benchmark.summary}")
    for role in ("navigate", "recover", "finish", "noop", "other"):
        click.echo(f"  {role:10} {', '.join(words[role])}")
    click.echo(f"  {len(tasks)} tasks:")
    for task in tasks:
        click.echo(f"    {task}")
