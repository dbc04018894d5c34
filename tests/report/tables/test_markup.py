import csv
import re
from io import StringIO

import pytest

from tests.report.sample import make
from warex.analysis.run.load import Run, load_run
from warex.analysis.table.tabulate import Table, tabulate
from warex.report.tables.markup import as_csv, as_latex, as_markdown, latex
from warex.report.tables.sheet import Sheet
from warex.report.tables.standard import sheets
from warex.report.tables.tasks import task_sheet


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return load_run(make(tmp_path_factory.mktemp("run"), tasks=4, repeats=1))


@pytest.fixture(scope="module")
def table(run: Run) -> Table:
    return tabulate(run)


@pytest.fixture(scope="module")
def nonempty(run: Run, table: Table) -> list[Sheet]:
    return [sheet for sheet in (*sheets(run, table), task_sheet(run)) if not sheet.empty]


def _lines(sheet: Sheet) -> int:
    return sum(len(block.lines) for block in sheet.blocks)


def test_csv_holds_numbers_and_nothing_else_where_there_are_numbers(
    nonempty: list[Sheet], table: Table
) -> None:
    for sheet in nonempty:
        rows = list(csv.reader(StringIO(as_csv(sheet))))
        assert len(rows) == 1 + _lines(sheet)
        assert {len(row) for row in rows} == {len(rows[0])}, sheet.name
        assert len(set(rows[0])) == len(rows[0]), sheet.name

    success = next(sheet for sheet in nonempty if sheet.name == "success")
    read = list(csv.DictReader(StringIO(as_csv(success))))
    for line in read:
        row = table.row(line["agent"], line["condition"])
        assert float(line["success"]) == row.success.value
        assert int(line["success_n"]) == row.success.n
        assert float(line["success_low"]) == row.success.interval[0]
        assert line["delta"] == ("" if row.delta is None else str(row.delta.value))


def test_latex_is_one_balanced_tabular(nonempty: list[Sheet]) -> None:
    for sheet in nonempty:
        text = as_latex(sheet)
        body = text.splitlines()[1:]
        bare = re.sub(r"\\[{}]", "", "\n".join(body))
        assert bare.count("{") == bare.count("}")
        assert len(re.findall(r"(?<!\\)\$", bare)) % 2 == 0
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
        for rule in (r"\toprule", r"\bottomrule"):
            assert body.count(rule) == 1
        for line in body:
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(sheet.columns), sheet.name
        assert "%" not in re.sub(r"\\%", "", "\n".join(body))


def test_what_latex_would_obey_is_text() -> None:
    assert latex("50 % of a_b & c^2 \\ {x} #1 $") == (
        r"50 \% of a\_b \& c\textasciicircum{}2 \textbackslash{} \{x\} \#1 \$"
    )
    assert latex("Δ —") == r"$\Delta$ ---"


def test_a_minus_is_one_inside_of_an_interval_too_and_a_hyphen_stays_one() -> None:
    assert latex("-12 [-30, -0.5]") == "$-$12 [$-$30, $-$0.5]"
    assert latex("gpt-4-o on 2026-06-10") == "gpt-4-o on 2026-06-10"


def test_markdown_has_as_many_pipes_in_every_line(nonempty: list[Sheet]) -> None:
    for sheet in nonempty:
        lines = [line for line in as_markdown(sheet).splitlines() if line.startswith("|")]
        pipes = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
        assert len(lines) == 2 + _lines(sheet)
        assert pipes == {len(sheet.columns) + 2}, sheet.name
