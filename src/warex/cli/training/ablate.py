"""`warex ablate`: find out which part of a data set has the effect."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli.options.parameters import PATH
from warex.cli.options.training import (
    data_option,
    language_model_option,
    limit_option,
    training_options,
)
from warex.cli.output import console, echo
from warex.errors import InputError

if TYPE_CHECKING:
    from warex.training.evaluation.ablation import AblationResult


@click.command("ablate")
@data_option
@language_model_option
@click.option("--adapter", type=PATH, metavar="DIR", help="Continue training this adapter.")
@click.option(
    "-o",
    "--out",
    type=PATH,
    required=True,
    metavar="DIR",
    help="A new folder for adapters and tables.",
)
@click.option("--without-relabelled", is_flag=True, help="Try without relabelled answers.")
@click.option(
    "--clean-per-failure",
    multiple=True,
    type=click.FloatRange(0, 1000),
    metavar="RATIO",
    help="Try this many clean rows per failure.",
)
@click.option(
    "--families",
    multiple=True,
    type=click.IntRange(1),
    metavar="N",
    help="Try this many families of error pages.",
)
@click.option(
    "--examples", multiple=True, type=click.IntRange(1), metavar="N", help="Try this many failures."
)
@click.option(
    "--seed",
    "seeds",
    multiple=True,
    type=click.IntRange(0),
    default=(0,),
    help="Seed of rows and training.",
)
@limit_option
@training_options
def command(
    data: Path,
    model: str,
    adapter: Path | None,
    out: Path,
    without_relabelled: bool,
    clean_per_failure: tuple[float, ...],
    families: tuple[int, ...],
    examples: tuple[int, ...],
    seeds: tuple[int, ...],
    limit: int | None,
    **recipe: Any,
) -> None:
    """Train on parts of a data set and test each, to find what in the data has the effect.

    The whole data set is trained on first, for comparison. The test rows are those of the split
    `test`.
    """
    from warex.cli.progress.reporter import ProgressReporter
    from warex.exports.dataset import read_dataset, require_empty_folder
    from warex.training.evaluation.ablation import run_ablation, variants
    from warex.training.evaluation.tables import ablation
    from warex.training.fine_tuning.hyperparameters import Hyperparameters
    from warex.training.model.loading import require_packages
    from warex.training.trl_data import sample_rows

    dataset = read_dataset(data)
    asked = sample_rows(dataset.rows("test"), limit)
    if not asked:
        raise InputError(f"{data} has no row in test: there is nothing to ask")
    require_empty_folder(out)
    require_packages()
    chosen = variants(
        without_relabelled=without_relabelled,
        clean_per_failure=clean_per_failure,
        families=families,
        examples=examples,
    )
    hyperparameters = Hyperparameters(
        **{name: value for name, value in recipe.items() if value is not None}
    )
    countdown, results = ProgressReporter("trainings"), list["AblationResult"]()
    for one in run_ablation(dataset, model, out, chosen, seeds, asked, hyperparameters, adapter):
        results.append(one)
        countdown.update(len(results), len(chosen) * len(seeds), one.variant.name)
        _write(out, results)
    console().print(ablation(results))
    echo(f"\nnumbers  {out / 'ablation.json'}")


def _write(out: Path, results: "list[AblationResult]") -> None:
    """Write the results so far, so that a later failure loses nothing."""
    from warex.traces.files import write_atomic
    from warex.training.evaluation.tables import summary_data

    rows = [
        {
            "variant": one.variant.name,
            "seed": one.seed,
            "trained_on": {"failures": one.failures, "clean": one.clean},
            **summary_data([one.result])[0],
        }
        for one in results
    ]
    write_atomic(out / "ablation.json", (json.dumps(rows, indent=2) + "\n").encode())
