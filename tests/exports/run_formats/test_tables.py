from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.report.sample import make
from warex.analysis.run.load import Run, load_run
from warex.errors import InputError
from warex.exports.run_formats import RunExport
from warex.exports.run_formats.tables import write, write_tables


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return load_run(make(tmp_path_factory.mktemp("run"), tasks=4, repeats=1))


def test_every_figure_and_table_becomes_files(run: Run, tmp_path: Path) -> None:
    files = write_tables(run, tmp_path / "new" / "folder")
    names = {file.name for file in files}

    assert all(file.is_file() for file in files)
    assert {"success.svg", "delta.svg", "effort.svg", "reloads.svg", "sites.svg"} <= names
    for sheet in ("success", "effort", "recovery", "tasks"):
        assert {f"{sheet}.csv", f"{sheet}.tex", f"{sheet}.md"} <= names
    for file in files:
        if file.suffix == ".svg":
            assert ElementTree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_a_file_in_the_place_of_the_folder_is_a_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")

    with pytest.raises(InputError, match="taken: this is a file"):
        write_tables(run, tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "mine"


def test_several_runs_have_folders_and_one_table(run: Run, tmp_path: Path) -> None:
    export = RunExport("tables", (run.path, run.path), tmp_path / "out")

    (line,) = write(export)

    places = {path.relative_to(export.out) for path in export.out.rglob("*") if path.is_file()}
    assert line == f"tables     {len(places)} files: {export.out}"
    name = run.path.name
    assert {Path("paper.csv"), Path(name, "delta.svg"), Path(f"{name}-2", "delta.svg")} <= places


def test_tables_of_some_agents_are_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--agent and --condition do not go with --to tables"):
        list(write(RunExport("tables", (run.path,), tmp_path / "out", agents=("a",))))
