"""Parquet tables of trials, steps, exchanges, faults.

The columns are those of ``warex.load_run``, after the folder of the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warex.analysis.output.frames import Frames, load_run
from warex.errors import InputError
from warex.exports.run_formats import RunExport
from warex.extras import require_extra
from warex.text.english import count_noun
from warex.traces.files import write_atomic

if TYPE_CHECKING:
    import polars as pl

TABLES: Final = ("trials", "steps", "exchanges", "faults")


def write(export: RunExport) -> Iterable[str]:
    """Write the tables."""
    export.require_new_folder()
    rows = write_parquet(export.runs, export.out, export.agents, export.conditions)
    for table, number in rows.items():
        yield f"{table:10} {count_noun(number, 'row')}"
    yield f"{export.format:10} {export.out}"


def write_parquet(
    runs: Sequence[Path],
    out: Path,
    agents: Sequence[str] = (),
    conditions: Sequence[str] = (),
) -> Mapping[str, int]:
    """Write the tables of runs; return the number of rows of each. () is all agents.

    Raises InputError if a run lacks an agent or a condition, MachineError if Polars is missing or a
    file cannot be written.
    """
    require_extra("frames", "--to parquet", "polars")
    import polars as pl

    loaded = [load_run(path) for path in runs]
    _require_known(loaded, agents, conditions)
    rows = {}
    for table in TABLES:
        frame = pl.concat([_selected(one, table, agents, conditions) for one in loaded])
        data = BytesIO()
        frame.write_parquet(data)
        write_atomic(out / f"{table}.parquet", data.getvalue())
        rows[table] = frame.height
    return rows


def _selected(
    frames: Frames, table: str, agents: Sequence[str], conditions: Sequence[str]
) -> "pl.DataFrame":
    import polars as pl

    frame: pl.DataFrame = getattr(frames, table)
    if agents:
        frame = frame.filter(pl.col("agent").is_in(list(agents)))
    if conditions:
        frame = frame.filter(pl.col("condition").is_in(list(conditions)))
    path = str(frames.run.path).encode("utf-8", "replace").decode()
    return frame.select(pl.lit(path).alias("run"), pl.all())


def _require_known(
    loaded: Sequence[Frames], agents: Sequence[str], conditions: Sequence[str]
) -> None:
    for what, wanted, known in (
        ("agent", agents, [name for one in loaded for name in one.run.agents]),
        ("condition", conditions, [name for one in loaded for name in one.run.conditions]),
    ):
        if missing := sorted(set(wanted) - set(known)):
            there = ", ".join(dict.fromkeys(known)) or "none"
            raise InputError(f"there is no {what} {missing[0]!r} in the runs; there are: {there}")
