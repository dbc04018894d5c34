"""Several runs make one report."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from tests.report import builders
from tests.report.sample import make
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import TabulatedRun, tabulate
from warex.report.html.multi_run import write_runs
from warex.report.terminal.side_by_side import render_paper_table, render_runs


@pytest.fixture(scope="module")
def tabulated(tmp_path_factory: pytest.TempPathFactory) -> list[TabulatedRun]:
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    runs = [load_run(make(folder, tasks=2, repeats=1)) for folder in folders]
    return [(run, tabulate(run)) for run in runs]


def printed(what: RenderableType) -> str:
    console = Console(width=80, file=StringIO())
    with console.capture() as text:
        console.print(what)
    return text.get()


def test_the_table_fits_a_terminal_of_80_columns_and_breaks_no_word(
    tabulated: list[TabulatedRun],
) -> None:
    text = printed(render_paper_table(tabulated[:1]))

    assert max(map(len, text.splitlines())) <= 80
    assert "success latency tokens tokens steps succ. 95 %" in " ".join(text.split())
    assert "Proxy - No Fault" in text


def test_a_run_of_which_no_trial_counts_says_so() -> None:
    nothing = builders.row("clean", 0, 0)
    reported = [(builders.run(nothing), builders.table(nothing))]

    assert "no trial counts" in printed(render_paper_table(reported))


def test_each_run_says_first_what_it_says_alone(tabulated: list[TabulatedRun]) -> None:
    text = printed(render_runs(tabulated))

    for run, _ in tabulated:
        # Two runs of one name, agent and benchmark are told apart by their folders.
        assert f"({run.path})" in text.replace("\n", "")
    assert text.count("Made up: each outcome was drawn") == 1


def test_the_page_leads_to_each_runs_own(tabulated: list[TabulatedRun], tmp_path: Path) -> None:
    page = write_runs(tabulated, tmp_path / "all").read_text()

    for run, _ in tabulated:
        relative = Path("../" * len(tmp_path.parts)) / run.path.relative_to("/") / "report.html"
        assert (tmp_path / "all" / relative).resolve() == run.path / "report.html"
        assert page.count(f"{run.path.name}/report.html") == 1
    assert "Server Error" in page
