"""One table of a report, independent of its format."""

from collections.abc import Mapping
from dataclasses import dataclass

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


def blocks(lines: Mapping[str, list[tuple[Cell, ...]]]) -> tuple[TableBlock, ...]:
    """Return a block for each agent that has lines."""
    return tuple(TableBlock(agent, tuple(here)) for agent, here in lines.items() if here)
