"""Figures and tables as files for papers, slides and other programs.

A table becomes CSV (bare numbers), LaTeX (booktabs, for ``\\input``) and Markdown; a figure SVG.
"""

import csv
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from warex.analysis.run import Run
from warex.analysis.table import Table, tabulate
from warex.errors import InputError
from warex.report.charts import charts
from warex.report.sheets import Sheet, sheets
from warex.report.svg import standalone
from warex.report.tasks import task_sheet
from warex.traces.files import write_whole
from warex.visible import visible

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"\textbar{}",
    '"': "''",
    "Δ": r"$\Delta$",
    "\u00d7": r"$\times$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "\u2212": r"$-$",
    "—": "---",
    "…": r"\ldots{}",
}
"""What LaTeX would read as a command, and signs that an old engine has no glyph for."""

_MINUS = re.compile(r"(?<![\w.\-])-(?=\d)")
_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[<|&"})


def export(run: Run, folder: Path, table: Table | None = None) -> tuple[Path, ...]:
    """Write every figure and table of a run into ``folder``; return the files, in order.

    Raises InputError if the folder is a file, and MachineError when the disk refuses.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--export {folder}: this is a file; name a folder, new or not.")
    table = table or tabulate(run)
    written: list[Path] = []

    def write(name: str, text: str) -> None:
        write_whole(folder / name, text.encode("utf-8"))
        written.append(folder / name)

    for chart in charts(run, table):
        write(f"{chart.name}.svg", visible(standalone(chart)))
    for sheet in (*sheets(run, table), task_sheet(run)):
        if not sheet.empty:
            write(f"{sheet.name}.csv", as_csv(sheet))
            write(f"{sheet.name}.tex", as_latex(sheet))
            write(f"{sheet.name}.md", as_markdown(sheet))
    return tuple(written)


def as_csv(sheet: Sheet) -> str:
    """Return the table's bare numbers as CSV (RFC 4180); what is not known is empty."""
    text = StringIO()
    writer = csv.writer(text)
    keys = (key for column in sheet.columns for key in column.keys)
    writer.writerow(map(_bare, ["agent", *keys]))
    for block in sheet.blocks:
        for line in block.lines:
            values = [block.agent, *(value for cell in line for value in cell.values)]
            writer.writerow(map(_bare, values))
    return text.getvalue()


def _bare(value: object) -> object:
    """Return a value for CSV; a text that a spreadsheet would compute has an apostrophe before."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text


def as_latex(sheet: Sheet) -> str:
    """Return the table as a ``tabular`` that needs only the package booktabs."""
    titles = ["agent", *(column.title for column in sheet.columns)]
    places = "l" + "".join("l" if column.is_text else "r" for column in sheet.columns)
    rows = [
        f"% {_one_line(sheet.title)}. {_one_line(sheet.note)} Needs \\usepackage{{booktabs}}.",
        f"\\begin{{tabular}}{{{places}}}",
        r"\toprule",
        _latex_row(titles),
    ]
    for block in sheet.blocks:
        rows.append(r"\midrule")
        for place, line in enumerate(block.lines):
            rows.append(
                _latex_row([block.agent if place == 0 else "", *(cell.text for cell in line)])
            )
    return "\n".join((*rows, r"\bottomrule", r"\end{tabular}", ""))


def as_markdown(sheet: Sheet) -> str:
    """Return the table as Markdown with its title and what has to be known to read it."""
    titles = ["agent", *(column.title for column in sheet.columns)]
    rule = ["---", *("---" if column.is_text else "---:" for column in sheet.columns)]
    rows = [
        [block.agent, *(cell.text for cell in line)]
        for block in sheet.blocks
        for line in block.lines
    ]
    head = f"### {_one_line(sheet.title)}\n\n{_one_line(sheet.note)}\n\n"
    return head + "".join(
        f"| {' | '.join(row)} |\n"
        for row in ([*map(_markdown, titles)], rule, *([*map(_markdown, row)] for row in rows))
    )


def latex(words: str) -> str:
    """Return words as LaTeX text, the minus of a number as a minus."""
    text = "".join(_LATEX.get(sign, sign) for sign in _one_line(words))
    return _MINUS.sub("$-$", text)


def _latex_row(words: Sequence[str]) -> str:
    # A row that begins with a bracket would be taken for the argument of the rule before it.
    cells = (("{}" if w.startswith(("[", "*")) else "") + latex(w) for w in words)
    return " & ".join(cells) + r" \\"


def _markdown(words: str) -> str:
    return _one_line(words).translate(_MARKDOWN)


def _one_line(words: str) -> str:
    return " ".join(visible(words).split())
