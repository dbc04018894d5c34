import re
from pathlib import Path
from typing import get_args

from tests.report.sample import make
from warex.analysis.recovery import RecoveryVerdict
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.report.charts import charts
from warex.report.tables.paper import paper_sheet
from warex.report.tables.standard import sheets
from warex.report.tables.tasks import task_sheet

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "report.md"


def _rows() -> set[str]:
    return {line.split("|")[1].strip(" `") for line in PAGE.read_text().splitlines() if "|" in line}


def _exports() -> set[str]:
    section = PAGE.read_text().partition("## Exports")[2].partition("\n## ")[0]
    return set(re.findall(r"`([\w.]+)`", section))


def test_every_verdict_has_its_line_in_the_reference() -> None:
    assert set(get_args(RecoveryVerdict.__value__)) <= _rows()


def test_every_exported_figure_and_table_is_in_the_reference(tmp_path: Path) -> None:
    run = load_run(make(tmp_path, tasks=2, repeats=1))
    table = tabulate(run)
    names = {f"{chart.name}.svg" for chart in charts(run, table)}
    reported = (*sheets(run, table), task_sheet(run), paper_sheet([(run, table)]))
    names |= {sheet.name for sheet in reported}

    assert names <= _exports()
