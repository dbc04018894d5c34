import pytest

from tests.faults.variation.injected import settings
from warex.faults.variation.layout_shift import LayoutShift


@pytest.mark.parametrize(("strength", "bars"), [(0, 0), (0.1, 1), (0.5, 2), (1, 3)])
def test_the_strength_is_how_many_bars_there_are(strength: float, bars: int) -> None:
    assert len(settings(LayoutShift(strength=float(strength)))["bars"]) == bars


def test_a_bar_comes_late_and_before_the_page_is_taken_for_unchanged() -> None:
    for seed in range(20):
        for bar in settings(LayoutShift(strength=1), seed)["bars"]:
            assert 200 <= bar["after"] <= 1100
            assert 40 <= int(bar["style"]["height"].removesuffix("px")) <= 140


def test_bars_look_different_and_say_different_things() -> None:
    for seed in range(20):
        bars = settings(LayoutShift(strength=1), seed)["bars"]

        assert len({it["style"]["background"] for it in bars}) == 3
        assert len({it["words"]["en"]["bar"] for it in bars}) == 3
