"""`warex export --to har` and the like: whole runs in the formats of other tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from warex.cli.output import echo
from warex.errors import InputError
from warex.exports.names import RunFormat
from warex.text.english import count_noun

_APPLY: Final = frozenset(("runs", "kind", "out", "agents", "conditions"))


def require_no_dataset_options(context: click.Context, kind: RunFormat) -> None:
    """Raise InputError if an option is given that is only for data sets."""
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in _APPLY:
            raise InputError(
                f"{parameter.opts[0]} is for data sets, and --to {kind} writes runs as they are;"
                " only --out, --agent and --condition go with it"
            )


def export_runs(
    kind: RunFormat,
    runs: Sequence[Path],
    out: Path,
    agents: Sequence[str],
    conditions: Sequence[str],
) -> None:
    """Write runs in a format of other tools."""
    match kind:
        case "har":
            _export_har(runs, out, agents, conditions)
        case "parquet":
            _export_parquet(runs, out, agents, conditions)


def _export_har(
    runs: Sequence[Path], out: Path, agents: Sequence[str], conditions: Sequence[str]
) -> None:
    from warex.exports.dataset import require_empty_folder
    from warex.exports.interchange.har import write_har
    from warex.exports.interchange.selection import select_trials

    selection = select_trials(runs, agents, conditions)
    if out.suffix != ".har":
        require_empty_folder(out)
    elif len(selection.trials) > 1:
        raise InputError(
            f"--out {out}: an archive holds one trial, and there are {len(selection.trials)}; name"
            " a folder, or the folder of one trial as RUN"
        )
    elif out.exists():
        raise InputError(f"--out {out}: this exists already; name a new file")
    write_har(selection.trials, out)
    if selection.without_trace:
        echo(f"left out   {selection.without_trace:,}: nothing was recorded")
    echo(f"har        {count_noun(len(selection.trials), 'trial')}: {out}")


def _export_parquet(
    runs: Sequence[Path], out: Path, agents: Sequence[str], conditions: Sequence[str]
) -> None:
    from warex.exports.dataset import require_empty_folder
    from warex.exports.interchange.parquet import write_parquet

    require_empty_folder(out)
    for table, rows in write_parquet(runs, out, agents, conditions).items():
        echo(f"{table:10} {count_noun(rows, 'row')}")
    echo(f"parquet    {out}")
