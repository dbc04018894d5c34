"""Ablations: the same training with one property of the data changed at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from warex.errors import InputError
from warex.exports.balance import balance_rows
from warex.exports.dataset import Dataset
from warex.exports.rows import Row, RowMetadata
from warex.seeds import draw
from warex.training.evaluation.answer_classes import classify, is_right
from warex.training.evaluation.recovery_test import ModelResult, results
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.fine_tuning.trainer import train
from warex.training.inference.backends import answers_by_model, has_action
from warex.training.model.loading import load_model

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Variant:
    """A selection of a data set's training rows; None leaves a property unchanged."""

    name: str = ALL
    relabelled: bool = True
    """Whether answers that replace the agent's own are included."""
    clean_per_failure: float | None = None
    families: int | None = None
    """Of error pages."""
    examples: int | None = None
    """Failures; clean steps in proportion."""


@dataclass(frozen=True, slots=True)
class AblationResult:
    """The result of a variant with one seed."""

    variant: Variant
    seed: int
    failures: int
    """Rows trained on; the same for the next."""
    clean: int
    result: ModelResult


def variants(
    *,
    without_relabelled: bool,
    clean_per_failure: Sequence[float],
    families: Sequence[int],
    examples: Sequence[int],
) -> tuple[Variant, ...]:
    """Return all of the data, and the variants that each differ from it in one property."""
    without = [Variant("without relabelled", relabelled=False)] if without_relabelled else []
    return (
        Variant(),
        *without,
        *(Variant(f"{it:g} clean per failure", clean_per_failure=it) for it in clean_per_failure),
        *(Variant(f"{it} families of pages", families=it) for it in families),
        *(Variant(f"{it} failures", examples=it) for it in examples),
    )


def variant_rows(
    rows: Sequence[RowMetadata], variant: Variant, seed: int
) -> tuple[RowMetadata, ...]:
    """Return a variant's training rows, drawn by seed."""
    failures = [row for row in rows if row.kind == "failure"]
    clean = [row for row in rows if row.kind == "clean"]
    ratio = len(clean) / len(failures) if failures and clean else None
    if not variant.relabelled:
        failures = [row for row in failures if not row.relabelled]
    if variant.families is not None:
        names = sorted(
            {row.page_family for row in failures} - {""}, key=lambda it: draw(seed, "family", it)
        )
        families = {"", *names[: variant.families]}
        failures = [row for row in failures if row.page_family in families]
    if variant.clean_per_failure == 0:
        clean, ratio = [], None
    elif variant.clean_per_failure is not None:
        ratio = variant.clean_per_failure
    chosen = {row.id for row in balance_rows([*failures, *clean], ratio, seed, variant.examples)}
    return tuple(row for row in rows if row.id in chosen)


def variant_dataset(dataset: Dataset, variant: Variant, seed: int) -> Dataset:
    """Return a data set with a variant's training rows. Raises InputError if there are none."""
    rows = variant_rows(dataset.splits.get("train", ()), variant, seed)
    if not rows:
        raise InputError(f"{dataset.folder}: nothing is left to train on with {variant.name}")
    return replace(dataset, splits={**dataset.splits, "train": rows})


def run_ablation(
    dataset: Dataset,
    model: str,
    out: Path,
    chosen: Sequence[Variant],
    seeds: Sequence[int],
    asked: Sequence[Row],
    recipe: Hyperparameters,
    adapter: Path | None = None,
) -> Iterator[AblationResult]:
    """Train each variant with each seed and yield its results. Raises as ``train`` does."""
    for variant in chosen:
        for seed in seeds:
            some = variant_dataset(dataset, variant, seed)
            folder = out / f"{variant.name.replace(' ', '-')}-{seed}"
            train(some, model, folder, recipe.model_copy(update={"seed": seed}), adapter=adapter,
                  one_sided=True, is_right=is_right)  # fmt: skip
            if recipe.full:
                loaded = load_model(str(folder), precision=recipe.precision)
            else:
                loaded = load_model(model, folder, precision=recipe.precision)
            tuned = None if recipe.full else loaded.adapters[-1]
            answered = answers_by_model(loaded, asked, tuned, done=has_action)
            answers = {
                row.id: classify(answer, row, dataset.vocabulary(row)) for row, answer in answered
            }
            (result,) = results(asked, {variant.name: answers})
            rows = some.splits["train"]
            failures = sum(row.kind == "failure" for row in rows)
            yield AblationResult(variant, seed, failures, len(rows) - failures, result)
