"""The table, for the terminal and for the docs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.row import Row

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def show(rows: Sequence[Row]) -> None:
    """Print the table and, below it, the details of each row."""
    console = Console()
    table = Table("name", "what", "measured", "target", "ok?")
    for row in rows:
        verdict = {True: "[green]yes", False: "[red]no", None: "—"}[row.ok]
        table.add_row(row.name, row.what, row.measured_text, row.target_text, verdict)
    console.print(table)
    for row in rows:
        if row.detail:
            console.print(f"{row.name}: {row.detail}", highlight=False, soft_wrap=True)


def markdown(rows: Sequence[Row], machine: Mapping[str, str]) -> str:
    """Return the table and the machine as Markdown."""
    described = ", ".join(f"{name} {value}" for name, value in machine.items())
    lines = [
        f"Machine: {described}.",
        "",
        "| name | what | measured | target | behind it |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| `{row.name}` | {row.what} | {row.measured_text} | {row.target_text}"
            f"{' (**missed**)' if row.ok is False else ''} | {row.detail} |"
            for row in rows
        ),
    ]
    return "\n".join(lines)


def put_into(page: Path, text: str) -> None:
    """Replace the text between the marks of a page. Raises ValueError if a mark is missing."""
    content = page.read_text()
    before, begin, rest = content.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} lacks the marks {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
