"""`warex benchmarks`: what can be run, what it needs, and its environment."""

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli import completion
from warex.cli.group import Group
from warex.cli.options.benchmark import benchmark_option, benchmark_table
from warex.cli.output import echo, echo_columns
from warex.errors import InputError, WarexError
from warex.text.english import count_noun

if TYPE_CHECKING:
    from warex.benchmarks import Benchmark

_ROLES = ("navigate", "recover", "retry", "finish", "infeasible", "noop", "other")
_WIDTH = 80


@click.group("benchmarks", cls=Group, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the benchmarks; `show NAME`; `setup NAME --dir DIR`."""
    if context.invoked_subcommand is not None:
        return
    from warex.benchmarks import BENCHMARKS

    if as_json:
        rows = [
            {
                "name": kind.name,
                "summary": kind.summary,
                "needs_environment": kind.recipe is not None,
            }
            for kind in BENCHMARKS
        ]
        echo(json.dumps(rows, indent=2))
        return
    width = max(len(kind.name) for kind in BENCHMARKS)
    for kind in BENCHMARKS:
        echo_columns(kind.name, kind.summary, width + 1)


@command.command("show")
@click.argument("name", shell_complete=completion.BENCHMARK)
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    help="Its environment, to list the tasks that are known only there.",
)
@benchmark_option
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, folder: Path | None, options: tuple[str, ...], as_json: bool) -> None:
    """Print what a benchmark needs, its options, its actions, its tasks, an example."""
    from warex.benchmarks import benchmark_kind

    kind = benchmark_kind(name)
    told, table = _adapter_data(kind), benchmark_table(name, folder, options)
    try:
        benchmark = kind(table)
        told["tasks"] = list(benchmark.tasks())
        told["never"] = sorted(
            {glob for task in told["tasks"] for glob in benchmark.exclusions(task)}
        )
    except WarexError as error:
        if folder is not None or options:
            raise
        told["tasks"], told["why_no_tasks"] = None, str(error)
    echo(json.dumps(told, indent=2)) if as_json else _print(told)


def _adapter_data(kind: "type[Benchmark]") -> dict[str, Any]:
    """Return an adapter's static data."""
    schema = kind.options_model.model_json_schema()
    options = {
        key: {
            "description": field.get("description", ""),
            "default": field.get("default"),
            "required": key in schema.get("required", ()),
        }
        for key, field in schema.get("properties", {}).items()
    }
    recipe = kind.recipe
    return {
        "name": kind.name,
        "summary": kind.summary,
        "needs": kind.setup_help,
        "arming": kind.arming_help,
        "verifiers": list(kind.judge_user_agents),
        "keys": list(kind.api_key_variables),
        "sites": None if kind.site_names is None else list(kind.site_names),
        "options": options,
        "python": None if recipe is None else list(recipe.pythons),
        "vocabulary": kind.vocabulary.model_dump(mode="json"),
        "example": kind.example(),
    }


def _print(told: dict[str, Any]) -> None:
    echo(f"{told['name']}: {told['summary']}")
    _section("needs", told["needs"])
    if told["python"] is not None:
        _section("set up by", f"warex benchmarks setup {told['name']} --dir DIR")
    _section("arms at", told["arming"])
    if told["verifiers"]:
        _section("never", f"what {', '.join(told['verifiers'])} asks for")
    for glob in told.get("never", ())[:20]:
        _section("never", glob)
    if told["sites"] != []:
        _section("sites", ", ".join(told["sites"] or ["origins, as https://shop.example"]))
    for key, option in told["options"].items():
        default = "required" if option["required"] else json.dumps(option["default"])
        _section("options", f"{key} ({default}): {option['description']}")
    words = told["vocabulary"]
    for role in filter(words.get, _ROLES):
        _section(role, ", ".join(words[role]))
    if told["tasks"] is None:
        _section("tasks", told["why_no_tasks"])
    else:
        shown = told["tasks"][:200]
        echo(f"\n{count_noun(len(told['tasks']), 'task')}:")
        for task in shown:
            echo(f"    {task}")
        if len(told["tasks"]) > len(shown):
            echo(f"    … {len(told['tasks']) - len(shown)} more: see --json")
    if told["example"]:
        echo("\nA campaign for it:\n")
        echo(textwrap.indent(told["example"], "    "), end="")


def _section(head: str, body: str) -> None:
    for line in textwrap.wrap(body, _WIDTH - 14, break_long_words=False) or [""]:
        echo(f"  {head:11} {line}")
        head = ""


@command.command("setup")
@click.argument("name", shell_complete=completion.BENCHMARK)
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for its environment; made, or gone on with.",
)
@click.option("--python", metavar="P", help="The Python to use; left out, one that it runs on.")
@click.option("--again", is_flag=True, help="Start over, even if it is complete.")
def setup(name: str, folder: Path, python: str | None, again: bool) -> None:
    """Make a benchmark's own environment: a Python, packages that fit, its files.

    A set-up that was cut off goes on where it was; one that is whole is recognised at once.
    """
    from warex.benchmarks import benchmark_kind
    from warex.benchmarks.installation.virtualenv import find_virtualenv, set_up
    from warex.cli.progress.spinner import spinner

    recipe = benchmark_kind(name).recipe
    if recipe is None:
        raise InputError(f"the benchmark {name!r} needs no environment of its own")
    with spinner(f"set up {name}") as report:
        made = set_up(name, recipe, folder, python=python, report=report, again=again)
    echo(find_virtualenv(name, recipe, made.folder)[2])
    echo(f'name it in a campaign: benchmark = {{ name = "{name}", dir = "{folder}" }}')
