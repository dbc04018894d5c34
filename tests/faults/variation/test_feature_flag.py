import pytest

from tests.faults.variation.injected import settings
from warex.faults.variation.feature_flag import FeatureFlag


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0])
def test_the_strength_is_the_share_of_the_actions(strength: float) -> None:
    assert settings(FeatureFlag(strength=strength))["share"] == strength


def test_the_seed_names_the_menu() -> None:
    assert len({settings(FeatureFlag(), seed)["words"]["en"]["label"] for seed in range(30)}) == 3
