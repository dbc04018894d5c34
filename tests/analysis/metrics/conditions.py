"""Small runs, and the figures of their conditions."""

from tests.analysis.builders import RunFolder, Story
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Mean
from warex.analysis.table.tabulate import tabulate


def figures(folder: RunFolder, condition: str) -> ConditionRow:
    """The row of the one agent."""
    return tabulate(load_run(folder.path)).row("patient", condition)


def value(mean: Mean | None) -> float | None:
    """The value of a mean."""
    return mean.value if mean else None


def recovering() -> Story:
    """A page fails, and the agent asks for it again."""
    return Story().thinks(1, "goto").fault(1).thinks(2, "reload", (2000, 30)).page("x2").stops()


def unhurt() -> Story:
    """Nothing fails."""
    return Story().thinks(1, "goto").page("x1").stops()
