"""`warex scenarios`: the presets; what a file will do; what it would have done."""

from pathlib import Path

import click

from warex.cli import completion
from warex.cli.group import listing
from warex.cli.options.parameters import PATH, json_option
from warex.cli.options.traffic import site_option
from warex.cli.output import echo, echo_json, echo_rows, first_line
from warex.errors import InputError


@listing("scenarios")
def command(as_json: bool) -> None:
    """List the preset scenarios; `show NAME`, `check FILE`."""
    import yaml

    from warex.scenarios.presets import preset_names, preset_path

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # Tests validate each preset; here that would take ten times as long.
    rows = [
        {"name": name, "description": str(yaml.load(file, loader)["description"]).strip()}
        for name in preset_names()
        for file in [preset_path(name).read_bytes()]
    ]
    if not as_json:
        rows = [{**row, "description": first_line(row["description"])} for row in rows]
    echo_rows(rows, 28, as_json=as_json)


@command.command("show")
@click.argument("name", shell_complete=completion.SCENARIO)
@json_option
def show(name: str, as_json: bool) -> None:
    """Print a preset or a file, with its defaults."""
    import yaml

    from warex.scenarios.load import load_scenario

    data = load_scenario(name).model_dump(mode="json", exclude_unset=True)
    if as_json:
        echo_json(data)
    else:
        echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True).rstrip())


@command.command("check")
@click.argument("file", shell_complete=completion.SCENARIO)
@click.option(
    "--against",
    type=PATH,
    metavar="HAR|TRIAL",
    help="List the requests of this recording that it would affect.",
)
@click.option("--seed", type=int, help="Random seed. [default: the trial's]")
@site_option
@click.option("--strict", is_flag=True, help="Refuse a scenario with warnings.")
@json_option
def check(
    file: str,
    against: Path | None,
    seed: int | None,
    sites: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> None:
    """Explain a scenario, or list the requests of a recording that it would affect."""
    from warex.cli.trial_path import find_trace
    from warex.scenarios.lint.linter import lint
    from warex.scenarios.load import load_scenario
    from warex.scenarios.preview.explain import explain
    from warex.scenarios.preview.recording import hits_in_recording
    from warex.text.english import count_noun

    if strict and against is not None:
        raise InputError("--strict is about a scenario by itself: leave --against out")
    scenario = load_scenario(file)
    if against is None:
        words, warnings = explain(scenario, sites), lint(scenario, sites)
        result = {"name": scenario.name, "in_words": words, "warnings": warnings}
        echo_json(result) if as_json else echo(words)
        if strict and warnings:
            number = count_noun(len(warnings), "warning")
            raise InputError(f"{file} has {number} (above), and --strict allows none")
        return
    hits = hits_in_recording(scenario, find_trace(against), seed, sites)
    if as_json:
        fields = ("number", "at", "method", "url", "resource", "rule", "ordinal", "stage")
        rows = [{name: getattr(hit, name) for name in fields} for hit in hits]
        echo_json(rows)
        return
    if not hits:
        echo(f"{scenario.name} would have hit nothing in {against}")
    for hit in hits:
        end = "  (superseded by an earlier rule)" if hit.superseded else ""
        end = end or ("  (missed: not streamed)" if hit.not_streamed else "")
        echo(
            f"request {hit.number:>4}  {hit.at:8.3f} s  {hit.rule} #{hit.ordinal}  {hit.method}"
            f" {hit.url}  [{hit.resource}]{end}"
        )
    hitting = {hit.rule for hit in hits}
    for rule in scenario.rules if hits else ():
        if rule.name not in hitting:
            echo(f"rule {rule.name} would have hit nothing")
