import pytest

from warex.report.charts.palette import DARK, HEAT_STEPS, HUES, LIGHT, css_variables
from warex.rewriting.site_look.colours import contrast


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_contrast_on_every_background(colours: dict[str, str]) -> None:
    grounds = {
        "ink": ("paper", "card", "band", *(f"heat-{step}" for step in range(HEAT_STEPS))),
        "soft": ("paper", "card", "none-tint"),
        "link": ("paper", "card"),
        "good": ("good-tint",),
        "bad": ("bad-tint",),
        "warn": ("warn-tint",),
    }

    poor = {
        (text, ground): contrast(colours[text], colours[ground])
        for text, below in grounds.items()
        for ground in below
        if contrast(colours[text], colours[ground]) < 4.5
    }

    assert not poor


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_have_contrast_on_the_background(colours: dict[str, str]) -> None:
    for hue in range(HUES):
        for ground in ("card", "band"):
            assert contrast(colours[f"hue-{hue}"], colours[ground]) >= 3, (hue, ground)


def test_light_and_dark_name_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert css_variables(LIGHT).count("--") == len(LIGHT)
