from typing import Any

import click
import pytest
from click.testing import CliRunner

from warex.cli.options.training import training_options
from warex.training.fine_tuning.hyperparameters import Hyperparameters


def parsed(*arguments: str) -> dict[str, Any]:
    results: dict[str, Any] = {}

    @click.command()
    @training_options
    def command(**recipe: Any) -> None:
        results.update(recipe)

    assert CliRunner().invoke(command, arguments).exit_code == 0
    return results


def test_every_recipe_field_is_an_option_without_a_default() -> None:
    assert parsed() == dict.fromkeys(Hyperparameters.model_fields.keys() - {"seed"})


@pytest.mark.parametrize(
    ("arguments", "recipe"),
    [
        (("--rank", "16", "--alpha", "32"), Hyperparameters(rank=16, alpha=32)),
        (("--packing", "--precision", "fp32"), Hyperparameters(packing=True, precision="fp32")),
    ],
)
def test_given_options_are_the_recipe(arguments: tuple[str, ...], recipe: Hyperparameters) -> None:
    results = {name: value for name, value in parsed(*arguments).items() if value is not None}
    assert Hyperparameters(**results) == recipe


def test_defaults_in_the_help_are_the_recipes() -> None:
    @click.command()
    @training_options
    def command(**recipe: Any) -> None:
        """Do nothing."""

    for option in command.params:
        assert isinstance(option, click.Option)
        result = (option.help or "").partition("[default: ")[2].rstrip("]").partition(",")[0]
        if result:
            default = Hyperparameters.model_fields[str(option.name)].default
            assert result == (default if isinstance(default, str) else f"{default:g}")
