"""`warex benchmarks`: what can be run, what it needs, and its environment."""

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli import completion
from warex.cli.group import listing
from warex.cli.options.benchmark import benchmark_option, benchmark_table, dir_option
from warex.cli.options.parameters import PATH, json_option
from warex.cli.output import echo, echo_json, echo_rows
from warex.errors import InputError, WarexError
from warex.text.english import count_noun

if TYPE_CHECKING:
    from warex.benchmarks import Benchmark

_ROLES = ("navigate", "recover", "retry", "finish", "infeasible", "noop", "other")
_WIDTH = 80


@listing("benchmarks")
def command(as_json: bool) -> None:
    """List the benchmarks; `show NAME`; `setup NAME --dir DIR`."""
    from warex.benchmarks import benchmarks

    kinds = benchmarks()
    rows = [
        {"name": kind.name, "summary": kind.summary, "needs_environment": kind.recipe is not None}
        for kind in kinds
    ]
    echo_rows(rows, max(len(kind.name) for kind in kinds) + 1, as_json=as_json)


@command.command("show")
@click.argument("name", shell_complete=completion.BENCHMARK)
@dir_option
@benchmark_option
@json_option
def show(name: str, folder: Path | None, options: tuple[str, ...], as_json: bool) -> None:
    """Print a benchmark's needs, options, actions, tasks and an example."""
    from warex.benchmarks import benchmark_kind

    kind = benchmark_kind(name)
    data, table = _adapter_data(kind), benchmark_table(name, folder, options)
    try:
        benchmark = kind(table)
        data["tasks"] = list(benchmark.tasks())
        data["never"] = sorted(
            {glob for task in data["tasks"] for glob in benchmark.exclusions(task)}
        )
    except WarexError as error:
        if folder is not None or options:
            raise
        data["tasks"], data["why_no_tasks"] = None, str(error)
    echo_json(data) if as_json else _print(data)


def _adapter_data(kind: "type[Benchmark]") -> dict[str, Any]:
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


def _print(data: dict[str, Any]) -> None:
    echo(f"{data['name']}: {data['summary']}")
    _section("needs", data["needs"])
    if data["python"] is not None:
        _section("set up by", f"warex benchmarks setup {data['name']} --dir DIR")
    _section("arms at", data["arming"])
    if data["verifiers"]:
        _section("never", f"what {', '.join(data['verifiers'])} asks for")
    for glob in data.get("never", ())[:20]:
        _section("never", glob)
    if data["sites"] != []:
        _section("sites", ", ".join(data["sites"] or ["origins, as https://shop.example"]))
    for key, option in data["options"].items():
        default = "required" if option["required"] else json.dumps(option["default"])
        _section("options", f"{key} ({default}): {option['description']}")
    words = data["vocabulary"]
    for role in filter(words.get, _ROLES):
        _section(role, ", ".join(words[role]))
    if data["tasks"] is None:
        _section("tasks", data["why_no_tasks"])
    else:
        shown = data["tasks"][:200]
        echo(f"\n{count_noun(len(data['tasks']), 'task')}:")
        for task in shown:
            echo(f"    {task}")
        if len(data["tasks"]) > len(shown):
            echo(f"    … {len(data['tasks']) - len(shown)} more: see --json")
    if data["example"]:
        echo("\nA campaign for it:\n")
        echo(textwrap.indent(data["example"], "    "), end="")


def _section(head: str, body: str) -> None:
    for line in textwrap.wrap(body, _WIDTH - 14, break_long_words=False) or [""]:
        echo(f"  {head:11} {line}")
        head = ""


@command.command("setup")
@click.argument("name", shell_complete=completion.BENCHMARK)
@click.option("--dir", "folder", type=PATH, required=True, help="Folder for the environment.")
@click.option("--python", metavar="P", help="The Python to use. [default: one that fits]")
@click.option("--again", is_flag=True, help="Start over.")
def setup(name: str, folder: Path, python: str | None, again: bool) -> None:
    """Create or complete a benchmark's environment: a Python, packages, files."""
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
