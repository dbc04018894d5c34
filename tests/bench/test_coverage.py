import numpy as np
import pytest
from bench import coverage


@pytest.mark.slow
def test_every_interval_holds_the_truth_and_chance_is_rarely_believed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert coverage.main(["--draws", "200"]) == 0, capsys.readouterr().out


def test_a_simulated_run_is_judged_against_its_own_truth() -> None:
    rng = np.random.default_rng(1)
    collapse = next(population for population in coverage.POPULATIONS if population.after == 0.25)
    found = coverage.tally(rng, collapse, 20, 30, 1)
    assert (found.runs, found.shares, found.significant) == (20, 20, 20)
    assert found.change >= 16
