import pytest

from tests.faults.variation.injected import settings
from warex.faults.variation.id_drift import IdDrift


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0])
def test_the_strength_is_the_share_of_the_names_that_drift(strength: float) -> None:
    assert settings(IdDrift(strength=strength))["strength"] == strength


def test_the_seed_alone_chooses_the_names() -> None:
    assert len({settings(IdDrift(), seed)["seed"] for seed in range(30)}) == 30
