"""Stories of trials, and access to the figures of a run's conditions."""

from tests.analysis.builders import RunFolder, Story
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Mean
from warex.analysis.table.tabulate import tabulate


def figures(folder: RunFolder, condition: str) -> ConditionRow:
    """Return the row of the agent ``patient``."""
    return tabulate(load_run(folder.path)).row("patient", condition)


def value(mean: Mean | None) -> float | None:
    """Return the value of a mean."""
    return mean.value if mean else None


def recovering() -> Story:
    """Return a story in which a page fails and the agent reloads it."""
    return Story().thinks(1, "goto").fault(1).thinks(2, "reload", (2000, 30)).page("x2").stops()


def unhurt() -> Story:
    """Return a story without faults."""
    return Story().thinks(1, "goto").page("x1").stops()
