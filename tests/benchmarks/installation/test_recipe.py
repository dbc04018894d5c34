from dataclasses import replace

import pytest
from packaging.requirements import Requirement

from warex.benchmarks import BENCHMARKS
from warex.benchmarks.installation.recipe import Install, Recipe

RECIPE = Recipe(pythons=("3.12",), installs=(Install(("a==1",)),))
MADE = [kind for kind in BENCHMARKS if kind.recipe is not None]


@pytest.mark.parametrize(
    "other",
    [
        replace(RECIPE, pythons=("3.11",)),
        replace(RECIPE, installs=(Install(("a==1",), dependencies=False),)),
        replace(RECIPE, folders=("x",)),
        replace(RECIPE, files={"x": "y"}),
        replace(RECIPE, check="print(1)"),
        replace(RECIPE, pins="pins/agentlab.txt"),
    ],
)
def test_any_difference_makes_another_recipe(other: Recipe) -> None:
    assert other.digest != RECIPE.digest
    assert RECIPE.digest == replace(RECIPE).digest


@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.name)
def test_what_is_installed_is_pinned_without_an_address(kind: type) -> None:
    recipe = kind.recipe  # type: ignore[attr-defined] # parametrised over those that have one
    pins = [line for line in recipe.pins_text.splitlines() if line and not line.startswith("#")]
    pinned = {Requirement(line).name.lower().replace("_", "-") for line in pins}

    assert pins
    for line in pins:
        assert Requirement(line).url is None
        assert str(Requirement(line).specifier).startswith("==")
    for install in recipe.installs:
        for requirement in map(Requirement, install.requirements):
            assert requirement.name.lower().replace("_", "-") in pinned
