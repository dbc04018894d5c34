"""Two trials side by side on the terminal, step by step."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from warex.analysis.steps.divergence import Divergence
from warex.analysis.steps.path import TrialPath
from warex.report.terminal.grid import DefinitionList, Grid, Heading
from warex.report.text.divergence import describe_divergence, describe_step
from warex.text.escaping import escape_controls


def render_divergence(
    divergence: Divergence, names: tuple[str, str], outcomes: tuple[str, str]
) -> RenderableType:
    """Return both outcomes, where the trials part in sentences, and their steps in two columns."""
    rows = tuple(_rows(divergence))
    titles = ("step", True), (names[0], True), ("", True), ("step", True), (names[1], True)
    heads = tuple(Heading(escape_controls(title), is_text=text) for title, text in titles)
    styles = tuple(
        (row, column, "bold") for row, cells in enumerate(rows) if cells[2] for column in (1, 4)
    )
    parts: list[RenderableType] = [DefinitionList(tuple(zip(names, outcomes, strict=True))), Text()]
    parts += [Text(escape_controls(line)) for line in describe_divergence(divergence, names)]
    if rows:
        parts += [Text(), Grid(heads, rows, keys=len(heads), styles=styles)]
    return Group(*parts)


def _rows(divergence: Divergence) -> Iterator[tuple[str, ...]]:
    """Yield both steps of each line; ``≠`` stands between steps that differ."""
    i = j = 0
    ends = tuple(len(path.steps) for path in divergence.paths)
    for pair in (*divergence.pairs, ends):
        while (i, j) != pair:
            yield _row(divergence, i if i < pair[0] else None, j if j < pair[1] else None, "≠")
            i, j = min(i + 1, pair[0]), min(j + 1, pair[1])
        if pair != ends:
            yield _row(divergence, i, j, "")
            i, j = i + 1, j + 1


def _row(divergence: Divergence, i: int | None, j: int | None, mark: str) -> tuple[str, ...]:
    one, other = divergence.paths
    return *_cells(one, i), mark, *_cells(other, j)


def _cells(path: TrialPath, index: int | None) -> tuple[str, str]:
    if index is None:
        return "", ""
    step = path.steps[index]
    return str(step.number), describe_step(step)
