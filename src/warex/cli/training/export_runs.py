"""`warex export --to har` and the like: whole runs in the formats of other tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from warex.cli.output import echo
from warex.errors import InputError
from warex.exports.names import RunFormat
from warex.text.english import count_noun

if TYPE_CHECKING:
    from warex.exports.interchange.selection import Selection

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
        case "otel":
            _export_otel(runs, out, agents, conditions)
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
    _echo_trials("har", selection, out)


def _export_otel(
    runs: Sequence[Path], out: Path, agents: Sequence[str], conditions: Sequence[str]
) -> None:
    from warex.exports.dataset import require_empty_folder
    from warex.exports.interchange.otel import write_otel
    from warex.exports.interchange.selection import select_trials

    selection = select_trials(runs, agents, conditions)
    require_empty_folder(out)
    write_otel(selection.trials, out)
    _echo_trials("otel", selection, out)


def _echo_trials(kind: RunFormat, selection: "Selection", out: Path) -> None:
    if selection.without_trace:
        echo(f"left out   {selection.without_trace:,}: nothing was recorded")
    echo(f"{kind:10} {count_noun(len(selection.trials), 'trial')}: {out}")


def _export_parquet(
    runs: Sequence[Path], out: Path, agents: Sequence[str], conditions: Sequence[str]
) -> None:
    from warex.exports.dataset import require_empty_folder
    from warex.exports.interchange.parquet import write_parquet

    require_empty_folder(out)
    for table, rows in write_parquet(runs, out, agents, conditions).items():
        echo(f"{table:10} {count_noun(rows, 'row')}")
    echo(f"parquet    {out}")
