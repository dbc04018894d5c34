"""`warex benchmarks`: what can be run."""

import click

from warex.benchmarks import BENCHMARKS, benchmark_named


@click.group("benchmarks", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List the benchmarks; `show NAME`."""
    if context.invoked_subcommand is None:
        for kind in BENCHMARKS:
            click.echo(f"{kind.name:12} {kind.summary}")


@command.command("show")
@click.argument("name")
def show(name: str) -> None:
    """Print a benchmark's tasks and the agent's actions."""
    benchmark = benchmark_named(name)
    click.echo(f"{benchmark.name}: {benchmark.summary}")
    words = benchmark.vocabulary
    for role in ("navigate", "recover", "finish", "noop", "other"):
        click.echo(f"  {role:10} {', '.join(getattr(words, role))}")
    tasks = benchmark.tasks()
    click.echo(f"  {len(tasks)} tasks:")
    for task in tasks:
        click.echo(f"    {task}")
