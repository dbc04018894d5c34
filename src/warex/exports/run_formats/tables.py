"""Figures and tables of the report: SVG, CSV, LaTeX, Markdown.

They are for papers, slides and other programs.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from warex.analysis.run.load import Run, load_run
from warex.analysis.table.tabulate import Table, tabulate
from warex.errors import InputError
from warex.exports.interchange.selection import folder_names
from warex.exports.run_formats import RunExport
from warex.report.charts import charts
from warex.report.charts.svg import standalone
from warex.report.tables.markup import as_csv, as_latex, as_markdown
from warex.report.tables.paper import paper_sheet
from warex.report.tables.sheet import Sheet
from warex.report.tables.standard import sheets
from warex.report.tables.tasks import task_sheet
from warex.text.english import count_noun
from warex.text.escaping import escape_controls
from warex.traces.files import write_atomic


def write(export: RunExport) -> Iterable[str]:
    """Write the figures and tables of each run, and the paper's table of several."""
    if export.agents or export.conditions:
        raise InputError(
            "--agent and --condition do not go with --to tables: the report's tables are of whole"
            " runs"
        )
    results = [(run, tabulate(run)) for run in map(load_run, export.runs)]
    export.require_new_folder()
    files = 0
    for name, (run, table) in zip(folder_names(export.runs), results, strict=True):
        files += len(write_tables(run, export.out / name, table))
    if len(results) > 1:
        files += len(write_paper_table(results, export.out))
    yield f"{export.format:10} {count_noun(files, 'file')}: {export.out}"


def write_tables(run: Run, folder: Path, table: Table | None = None) -> tuple[Path, ...]:
    """Write every figure and table of a run into ``folder``; return the files, in order.

    Raises InputError if the folder is a file, and MachineError if writing fails.
    """
    _require_folder(folder)
    table = table or tabulate(run)
    written: list[Path] = []
    for chart in charts(run, table):
        path = folder / f"{chart.name}.svg"
        write_atomic(path, escape_controls(standalone(chart)).encode("utf-8"))
        written.append(path)
    for sheet in (*sheets(run, table), task_sheet(run), paper_sheet([(run, table)])):
        written += _export_sheet(sheet, folder)
    return tuple(written)


def write_paper_table(runs: Sequence[tuple[Run, Table]], folder: Path) -> tuple[Path, ...]:
    """Write the paper's table of several runs into ``folder``; return the files, in order.

    Raises as ``write_tables`` does.
    """
    _require_folder(folder)
    return tuple(_export_sheet(paper_sheet(runs), folder))


def _export_sheet(sheet: Sheet, folder: Path) -> list[Path]:
    if sheet.empty:
        return []
    texts = {".csv": as_csv(sheet), ".tex": as_latex(sheet), ".md": as_markdown(sheet)}
    files = {folder / f"{sheet.name}{suffix}": text for suffix, text in texts.items()}
    for path, text in files.items():
        write_atomic(path, text.encode("utf-8"))
    return list(files)


def _require_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--export {folder}: this is a file; name a folder, new or not.")
