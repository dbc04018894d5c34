"""`warex scenarios`: the presets; what a file will do; what it would have done."""

from pathlib import Path

import click

from warex.cli import completion
from warex.cli.group import listing
from warex.cli.options.parameters import PATH, json_option
from warex.cli.options.traffic import site_option
from warex.cli.output import echo, echo_json, echo_rows, first_line
from warex.errors import InputError, WarexError


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
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", shell_complete=completion.SCENARIO
)
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
    files: tuple[str, ...],
    against: Path | None,
    seed: int | None,
    sites: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> None:
    """Explain scenarios, or list the requests of a recording that one would affect."""
    if against is None:
        _explain(files, sites, strict=strict, as_json=as_json)
        return
    if strict:
        raise InputError("--strict is about a scenario by itself: leave --against out")
    if len(files) > 1:
        raise InputError(f"--against takes one scenario, not {len(files)}")
    _list_hits(files[0], against, seed, sites, as_json=as_json)


def _explain(
    files: tuple[str, ...], sites: tuple[str, ...], *, strict: bool, as_json: bool
) -> None:
    """Print each scenario in words; raise InputError for all that are refused."""
    from warex.scenarios.lint.linter import lint
    from warex.scenarios.load import load_scenario
    from warex.scenarios.preview.explain import explain
    from warex.text.english import count_noun

    results: list[object] = []
    mistakes: list[str] = []
    for file in files:
        try:
            scenario = load_scenario(file)
        except WarexError as error:
            if len(files) == 1:
                raise
            mistakes.append(str(error))
            continue
        words, warnings = explain(scenario, sites), lint(scenario, sites)
        results.append({"name": scenario.name, "in_words": words, "warnings": warnings})
        if not as_json:
            echo(words)
        if strict and warnings:
            number = count_noun(len(warnings), "warning")
            mistakes.append(f"{file} has {number} (above), and --strict allows none")
    if as_json:
        echo_json(results[0] if len(files) == 1 else results)
    if mistakes:
        raise InputError("\n".join(mistakes))


def _list_hits(
    file: str, against: Path, seed: int | None, sites: tuple[str, ...], *, as_json: bool
) -> None:
    """Print what a scenario would affect in a recording."""
    from warex.cli.trial_path import find_trace
    from warex.scenarios.load import load_scenario
    from warex.scenarios.preview.recording import hits_in_recording

    scenario = load_scenario(file)
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
