from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.metrics.regimes import EffortRatio, regime
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta
from warex.analysis.table.tabulate import tabulate

FELL = Delta(-0.5, 40, interval=(-0.65, -0.3), p=0.001, p_holm=0.004)
NOISE = Delta(-0.1, 10, interval=(-0.4, 0.2), p=1.0)
UNCHANGED = Delta(0.0, 100, interval=(-0.05, 0.05), p=1.0)
ALL = Rate(40, 40)


def spent(ratio: float, low: float, high: float) -> EffortRatio:
    return EffortRatio("cost", ratio, (low, high))


@pytest.mark.parametrize(
    ("delta", "effort", "name"),
    [
        (FELL, spent(0.3, 0.2, 0.4), "premature termination"),
        (FELL, spent(1.4, 1.1, 1.7), "resource-intensive failure"),
        (FELL, spent(0.95, 0.85, 1.05), "resource-intensive failure"),
        (FELL, spent(0.7, 0.4, 1.3), "unclear"),
        (FELL, spent(0.9, 0.75, 0.99), "unclear"),
        (UNCHANGED, spent(1.3, 1.1, 1.5), "recovered at a cost"),
        (UNCHANGED, spent(1.0, 0.9, 1.1), "unaffected"),
        (UNCHANGED, spent(1.1, 0.8, 1.6), "unclear"),
        (NOISE, spent(0.3, 0.2, 0.4), "unclear"),
        (NOISE, spent(1.0, 0.99, 1.01), "unclear"),
        (None, spent(1.0, 0.9, 1.1), "unclear"),
        (FELL, None, "unclear"),
    ],
)
def test_a_regime_needs_intervals_that_support_it(
    delta: Delta | None, effort: EffortRatio | None, name: str
) -> None:
    result = regime(delta, effort, ALL)
    assert result is not None
    assert result.name == name


def test_a_regime_gives_its_deciding_figures() -> None:
    result = regime(FELL, spent(0.3, 0.2, 0.4), ALL)
    assert result is not None
    assert result.why == (
        "It fails and is cheap: success -50 points [-65, -30], cost of the median task at 30% of"
        " clean [20, 40]."
    )


def test_a_fault_that_hardly_reached_anybody_decides_nothing() -> None:
    assert regime(FELL, spent(0.3, 0.2, 0.4), None) is None
    for exposure in (Rate(0, 40), Rate(19, 40)):
        result = regime(FELL, spent(0.3, 0.2, 0.4), exposure)
        assert result is not None
        assert result.name == "unclear"


def test_an_agent_that_gives_up_at_once_terminates_prematurely(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    long = Story().thinks(1, "goto").page("x1").thinks(2, "click").thinks(3, "click").stops()
    for number in range(12):
        folder.trial("clean", f"t{number}", solved(9), long)
        story = Story().thinks(1, "goto").fault(1).stops()
        folder.trial("server-error", f"t{number}", failed(2), story)

    row = tabulate(load_run(tmp_path)).row("patient", "server-error")

    assert row.regime is not None
    assert row.regime.name == "premature termination"
    assert "cost of the median task at 33% of clean" in row.regime.why
    assert row.premature_stop == Rate(12, 12)
