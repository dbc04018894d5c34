"""`warex scenarios`: the presets; what a file will do; what it would have done."""

import json
from pathlib import Path

import click

from warex.cli import completion
from warex.cli.group import Group
from warex.cli.options.traffic import site_option
from warex.cli.output import echo, echo_columns


@click.group("scenarios", cls=Group, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the preset scenarios; `show NAME`, `check FILE`."""
    if context.invoked_subcommand is not None:
        return
    from warex.scenarios.load import load_scenario
    from warex.scenarios.presets import preset_names

    presets = {name: load_scenario(name).description.strip() for name in preset_names()}
    if as_json:
        rows = [{"name": name, "description": said} for name, said in presets.items()]
        echo(json.dumps(rows, indent=2))
        return
    for name, said in presets.items():
        echo_columns(name, said, 24)


@command.command("show")
@click.argument("name", shell_complete=completion.SCENARIO)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Print a preset or a file, with defaults filled in."""
    import yaml

    from warex.scenarios.load import load_scenario

    data = load_scenario(name).model_dump(mode="json", exclude_unset=True)
    if as_json:
        echo(json.dumps(data, indent=2))
    else:
        echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True).rstrip())


@command.command("check")
@click.argument("file", shell_complete=completion.SCENARIO)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="HAR|TRIAL",
    help="A recording: say which of its requests would have been hit.",
)
@click.option("--seed", type=int, help="Seed of all random choices; default: the trial's own.")
@site_option
@click.option("--json", "as_json", is_flag=True, help="Print the words, or the hits, as JSON.")
def check(
    file: str, against: Path | None, seed: int | None, sites: tuple[str, ...], as_json: bool
) -> None:
    """Say in words what a scenario will do, or which requests of a recording it would have hit."""
    from warex.cli.trial_path import find_trace
    from warex.scenarios.lint.linter import lint
    from warex.scenarios.load import load_scenario
    from warex.scenarios.preview.explain import explain
    from warex.scenarios.preview.recording import hits_in_recording

    scenario = load_scenario(file)
    if against is None:
        words, warnings = explain(scenario, sites), lint(scenario, sites)
        said = {"name": scenario.name, "in_words": words, "warnings": warnings}
        echo(json.dumps(said, indent=2) if as_json else words)
        return
    hits = hits_in_recording(scenario, find_trace(against), seed, sites)
    if as_json:
        fields = ("number", "at", "method", "url", "resource", "rule", "ordinal", "stage")
        rows = [{name: getattr(hit, name) for name in fields} for hit in hits]
        echo(json.dumps(rows, indent=2))
        return
    if not hits:
        echo(f"{scenario.name} would have hit nothing in {against}")
    for hit in hits:
        end = "  (superseded by an earlier rule)" if hit.superseded else ""
        echo(
            f"request {hit.number:>4}  {hit.at:8.3f} s  {hit.rule} #{hit.ordinal}  {hit.method}"
            f" {hit.url}  [{hit.resource}]{end}"
        )
    hitting = {hit.rule for hit in hits}
    for rule in scenario.rules if hits else ():
        if rule.name not in hitting:
            echo(f"rule {rule.name} would have hit nothing")
