"""Parquet tables of trials, steps, exchanges, faults.

The columns are those of ``warex.load_run``, after the folder of the run.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from warex.analysis.output.frames import Frames, frames_of
from warex.analysis.run.load import load_run, refuse_damage
from warex.errors import InputError, TraceError
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
    damaged = list[TraceError]()

    def leave_out(error: TraceError) -> None:
        export.on_damage(error)
        damaged.append(error)

    rows = write_parquet(export.runs, export.out, export.agents, export.conditions, leave_out)
    if damaged:
        yield f"left out   {len(damaged):,}: damaged"
    if voids := _voids(export.out):
        yield f"void       {voids:,}: marked in the files"
    for table, number in rows.items():
        yield f"{table:10} {count_noun(number, 'row')}"
    yield f"{export.format:10} {export.out}"


def write_parquet(
    runs: Sequence[Path],
    out: Path,
    agents: Sequence[str] = (),
    conditions: Sequence[str] = (),
    on_damage: Callable[[TraceError], None] = refuse_damage,
) -> Mapping[str, int]:
    """Write the tables of runs; return the number of rows of each. () is all agents.

    ``on_damage``: as in ``warex.analysis.run.load.load_run``. Raises InputError if a run lacks
    an agent or a condition, MachineError if Polars is missing or a file cannot be written.
    """
    require_extra("frames", "--to parquet", "polars")
    import polars as pl

    loaded = [frames_of(load_run(path, on_damage=on_damage)) for path in runs]
    _require_known(loaded, agents, conditions)
    rows = {}
    for table in TABLES:
        frame = pl.concat([_selected(one, table, agents, conditions) for one in loaded])
        data = BytesIO()
        frame.write_parquet(data)
        write_atomic(out / f"{table}.parquet", data.getvalue())
        rows[table] = frame.height
    return rows


def _voids(out: Path) -> int:
    import polars as pl

    trials = pl.read_parquet(out / "trials.parquet", columns=["outcome"])
    return trials.filter(pl.col("outcome") == "void").height


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
            available = ", ".join(dict.fromkeys(known)) or "none"
            raise InputError(
                f"there is no {what} {missing[0]!r} in the runs; there are: {available}"
            )
