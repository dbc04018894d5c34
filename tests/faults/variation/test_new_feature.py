import pytest

from tests.faults.variation.injected import settings
from warex.faults.variation.new_feature import NewFeature


@pytest.mark.parametrize(("strength", "things"), [(0, 0), (0.1, 1), (0.5, 2), (1, 3)])
def test_the_strength_is_how_many_things_are_new(strength: float, things: int) -> None:
    added = settings(NewFeature(strength=float(strength)))["added"]

    assert len(added) == len({it["words"]["en"]["text"] for it in added}) == things
    assert all(it["words"]["en"]["close"] for it in added)
