import numpy as np
import pytest
from bench.coverage import rates


@pytest.mark.parametrize("mean", rates.THRESHOLDS)
@pytest.mark.parametrize("name", rates.POPULATIONS)
def test_a_population_has_its_mean(name: str, mean: float) -> None:
    drawn = rates.POPULATIONS[name](np.random.default_rng(1), mean, 100_000)
    assert abs(drawn.mean() - mean) < 0.005
