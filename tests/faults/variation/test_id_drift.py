import pytest

from tests.faults.variation.injected import settings
from warex.faults.variation.id_drift import IdDrift


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0])
def test_the_strength_is_the_share_of_the_names_that_drift(strength: float) -> None:
    assert settings(IdDrift(strength=strength))["strength"] == strength


def test_the_script_gets_a_seed_of_its_own_for_each_seed_of_a_trial() -> None:
    seeds = [settings(IdDrift(), seed)["seed"] for seed in (*range(30), 0)]

    assert len(set(seeds[:30])) == 30
    assert seeds[30] == seeds[0]
