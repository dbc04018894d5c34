"""One table of a report, independent of its format."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from warex.report.tables.columns import Cell, Column


@dataclass(frozen=True, slots=True)
class TableBlock:
    """The lines of one agent."""

    agent: str
    lines: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table: a block of lines for each agent, each cell under its column."""

    name: str
    """Stem of its files, and its id on the page."""
    title: str
    note: str
    """One or two sentences that explain the table."""
    columns: tuple[Column, ...]
    blocks: tuple[TableBlock, ...]
    stacked: bool = False
    """Whether each block has a heading row instead of an agent column."""

    @property
    def flat(self) -> bool:
        """Whether each agent has one line, which can hold its name."""
        return not self.columns[0].is_text

    @property
    def titles(self) -> list[str]:
        """The titles of its columns, the agents' column included unless it is stacked."""
        return [*([] if self.stacked else ["agent"]), *(column.title for column in self.columns)]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return not any(block.lines for block in self.blocks)


class Row(Protocol):
    """A row of a table, in the block of its agent."""

    @property
    def agent(self) -> str:
        """The agent's name."""


def sheet_of(
    name: str, title: str, note: str, columns: Iterable[Column], rows: Iterable[Row]
) -> Sheet:
    """Return a table with a line for each row, in the order of the rows."""
    columns = tuple(columns)
    lines: dict[str, list[tuple[Cell, ...]]] = {}
    for row in rows:
        lines.setdefault(row.agent, []).append(tuple(column.cell(row) for column in columns))
    blocks = (TableBlock(agent, tuple(of)) for agent, of in lines.items())
    return Sheet(name, title, note, columns, tuple(blocks))
