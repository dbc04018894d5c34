"""Tables as CSV (bare numbers), LaTeX (booktabs, for ``\\input``) and Markdown."""

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO

from warex.report.tables.sheet import Sheet, TableBlock
from warex.text.escaping import escape_controls

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
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "\u00d7": r"$\times$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "\u2212": r"$-$",
    "—": "---",
    "…": r"\ldots{}",
}
"""Characters that are special in LaTeX, and those that old engines have no glyph for."""

_MINUS = re.compile(r"(?<![\w.\-])-(?=\d)")
_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[<|&"})


def as_csv(sheet: Sheet) -> str:
    """Return the table's plain values as CSV (RFC 4180); unknown values are empty."""
    text = StringIO()
    writer = csv.writer(text)
    keys = (key for column in sheet.columns for key in column.csv_keys)
    writer.writerow(map(_csv_value, [*([] if sheet.stacked else ["agent"]), *keys]))
    for block in sheet.blocks:
        head = [] if sheet.stacked else [block.agent]
        for line in block.lines:
            values = [*head, *(value for cell in line for value in cell.values)]
            writer.writerow(map(_csv_value, values))
    return text.getvalue()


def _csv_value(value: object) -> object:
    """Return a value for CSV, with an apostrophe before text that is a spreadsheet formula."""
    if not isinstance(value, str):
        return value
    text = escape_controls(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text


def as_latex(sheet: Sheet) -> str:
    """Return the table as a ``tabular`` that needs only the package booktabs."""
    places = "".join("l" if column.is_text else "r" for column in sheet.columns)
    places = places if sheet.stacked else f"l{places}"
    rows = [
        f"% {_one_line(sheet.title)}. {_one_line(sheet.note)} Needs \\usepackage{{booktabs}}.",
        f"\\begin{{tabular}}{{{places}}}",
        r"\toprule",
        _latex_row(sheet.titles),
    ]
    for block in sheet.blocks:
        rows.append(r"\midrule")
        if sheet.stacked:
            name, columns = latex(block.agent), len(sheet.columns)
            rows.append(f"\\multicolumn{{{columns}}}{{l}}{{\\textit{{{name}}}}} \\\\")
        for place, line in enumerate(block.lines):
            first = [] if sheet.stacked else [block.agent if place == 0 else ""]
            rows.append(_latex_row([*first, *(cell.text for cell in line)]))
    return "\n".join((*rows, r"\bottomrule", r"\end{tabular}", ""))


def as_markdown(sheet: Sheet) -> str:
    """Return the table as Markdown, with its title and note."""
    rule = ["---" if column.is_text else "---:" for column in sheet.columns]
    rule = rule if sheet.stacked else ["---", *rule]
    rows = [row for block in sheet.blocks for row in _markdown_rows(sheet, block)]
    head = f"### {_one_line(sheet.title)}\n\n{_one_line(sheet.note)}\n\n"
    return head + "".join(
        f"| {' | '.join(row)} |\n" for row in ([*map(markdown, sheet.titles)], rule, *rows)
    )


def _markdown_rows(sheet: Sheet, block: TableBlock) -> Iterator[list[str]]:
    if sheet.stacked:
        yield [f"*{markdown(block.agent)}*", *("" for _ in sheet.columns[1:])]
    first = [] if sheet.stacked else [block.agent]
    for line in block.lines:
        yield [*map(markdown, [*first, *(cell.text for cell in line)])]


def latex(words: str) -> str:
    """Return words as LaTeX text, the minus of a number as a minus."""
    text = "".join(_LATEX.get(sign, sign) for sign in _one_line(words))
    return _MINUS.sub("$-$", text)


def _latex_row(words: Sequence[str]) -> str:
    # A bracket at the beginning of a row would be an argument of the previous command.
    cells = (("{}" if w.startswith(("[", "*")) else "") + latex(w) for w in words)
    return " & ".join(cells) + r" \\"


def markdown(words: str) -> str:
    """Return words as one line of Markdown text, also in a cell of a table."""
    return _one_line(words).translate(_MARKDOWN)


def _one_line(words: str) -> str:
    return " ".join(escape_controls(words).split())
