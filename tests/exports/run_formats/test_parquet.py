from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest

import warex
from tests.exports.conftest import Program
from tests.exports.runs import several_sites
from warex.errors import InputError
from warex.exports.run_formats.parquet import TABLES, write_parquet


def test_the_tables_are_those_of_load_run(tmp_path: Path) -> None:
    several_sites(tmp_path / "run")
    frames = warex.load_run(tmp_path / "run")

    rows = write_parquet([tmp_path / "run"], tmp_path / "out")

    assert tuple(rows) == TABLES
    for table in TABLES:
        read = pl.read_parquet(tmp_path / "out" / f"{table}.parquet")
        assert read.height == rows[table] > 0
        assert read["run"].unique().to_list() == [str(tmp_path / "run")]
        assert read.drop("run").equals(getattr(frames, table))


def test_duckdb_joins_them(tmp_path: Path) -> None:
    several_sites(tmp_path / "run")
    write_parquet([tmp_path / "run"], tmp_path / "out")

    joined = duckdb.sql(
        f"select count(*) from '{tmp_path}/out/trials.parquet' join"
        f" '{tmp_path}/out/faults.parquet' using (benchmark, agent, condition, task, repeat)"
        " where solved and verdict = 'recovered'"
    )

    assert joined
    assert joined.fetchall() == [(3,)]


def test_runs_are_one_table_and_can_be_narrowed(tmp_path: Path) -> None:
    runs = [tmp_path / "one", tmp_path / "two"]
    for run in runs:
        several_sites(run)

    rows = write_parquet(runs, tmp_path / "out", ["patient"], ["server-error"])

    read = pl.read_parquet(tmp_path / "out/trials.parquet")
    assert rows["trials"] == 6
    assert read["run"].unique(maintain_order=True).to_list() == list(map(str, runs))
    assert read["agent"].unique().to_list() == ["patient"]
    with pytest.raises(
        InputError, match="no agent 'nobody' in the runs; there are: giveup, patient"
    ):
        write_parquet(runs, tmp_path / "more", ["nobody"])


READ = """
import sys
import pandas
import warex

run = warex.load_run(sys.argv[1])
frames = run.to_pandas()
for name in ("trials", "steps", "exchanges", "faults"):
    frame = getattr(run, name)
    read = pandas.read_parquet(f"{sys.argv[2]}/{name}.parquet").drop(columns="run")
    made = frames[name]
    assert list(made.columns) == list(read.columns) == frame.columns, name
    assert len(made) == len(read) == frame.height > 0, name
print(pandas.__version__)
"""


@pytest.mark.slow
def test_pandas_has_the_same_tables(python_with: Callable[[str], Program], tmp_path: Path) -> None:
    several_sites(tmp_path / "run")
    write_parquet([tmp_path / "run"], tmp_path / "out")
    (tmp_path / "read.py").write_text(READ)

    assert python_with("pandas")(tmp_path / "read.py", tmp_path / "run", tmp_path / "out")
