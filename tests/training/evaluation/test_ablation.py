from pathlib import Path

import pytest

from tests.exports.builders import MANIFEST, failure, row
from tests.training.tiny_model import tiny_model
from warex.errors import InputError
from warex.exports.dataset import Dataset, UnwrittenDataset, read_dataset, write_dataset
from warex.training.evaluation.ablation import (
    Variant,
    run_ablation,
    variant_dataset,
    variant_rows,
    variants,
)
from warex.training.fine_tuning.hyperparameters import Hyperparameters

FAMILIES = ("nginx", "iis", "django", "")
ROWS = [
    *(row(f"c{at}") for at in range(16)),
    *(failure(f"f{at}", page_family=FAMILIES[at % 4], relabelled=at < 3) for at in range(8)),
]


def counts(variant: Variant, seed: int = 0) -> tuple[int, int]:
    kinds = [it.kind for it in variant_rows(ROWS, variant, seed)]
    return kinds.count("failure"), kinds.count("clean")


def test_each_variant_differs_from_all_of_the_data_in_one_thing() -> None:
    result = variants(
        without_relabelled=True, clean_per_failure=[0, 3], families=[1], examples=[8, 16]
    )

    assert [it.name for it in result] == [
        "all",
        "without relabelled",
        "0 clean per failure",
        "3 clean per failure",
        "1 families of pages",
        "8 failures",
        "16 failures",
    ]
    changed = [sum(a != b for a, b in zip(_fields(it), _fields(result[0]), strict=True))
               for it in result[1:]]  # fmt: skip
    assert changed == [1] * 6


def _fields(variant: Variant) -> tuple[object, ...]:
    return (variant.relabelled, variant.clean_per_failure, variant.families, variant.examples)


def test_the_rest_of_the_data_keeps_its_proportion() -> None:
    assert counts(Variant()) == (8, 16)
    assert counts(Variant(relabelled=False)) == (5, 10)
    assert counts(Variant(examples=3)) == (3, 6)
    assert counts(Variant(clean_per_failure=1)) == (8, 8)
    assert counts(Variant(clean_per_failure=0)) == (8, 0)


def test_families_are_drawn_by_seed_and_pages_without_one_stay() -> None:
    one = variant_rows(ROWS, Variant(families=1), 0)
    drawn = {
        family for seed in range(9)
        for it in variant_rows(ROWS, Variant(families=1), seed) if (family := it.page_family)
    }  # fmt: skip

    assert len({it.page_family for it in one if it.kind == "failure"} - {""}) == 1
    assert sum(it.kind == "failure" and not it.page_family for it in one) == 2
    assert len(drawn) > 1


def test_more_examples_contain_fewer() -> None:
    few = {it.id for it in variant_rows(ROWS, Variant(examples=2), 5)}
    assert few < {it.id for it in variant_rows(ROWS, Variant(examples=4), 5)}


def test_a_variant_without_rows_is_reported() -> None:
    dataset = Dataset(Path("data"), MANIFEST, {"train": (failure(relabelled=True),)})
    with pytest.raises(InputError, match="nothing is left to train on with bare"):
        variant_dataset(dataset, Variant("bare", relabelled=False), 0)


@pytest.mark.slow
def test_failures_alone_teach_nothing_of_clean_steps(tmp_path: Path) -> None:
    model = str(tiny_model(tmp_path / "model"))
    rows = (*(row(f"c{at}") for at in range(4)), *(failure(f"f{at}") for at in range(4)))
    write_dataset(tmp_path / "data", UnwrittenDataset(MANIFEST, {"train": rows}), lambda _: "")
    dataset = read_dataset(tmp_path / "data")
    recipe = Hyperparameters(
        learning_rate=0.01, epochs=80, batch=4, max_length=512, precision="fp32"
    )
    chosen = (Variant(), Variant("0 clean", clean_per_failure=0))

    both, alone = run_ablation(dataset, model, tmp_path / "out", chosen, (0,), rows, recipe)

    assert (both.failures, both.clean) == (4, 4)
    assert (alone.failures, alone.clean) == (4, 0)
    assert str(both.result.recovery) == "4/4"
    assert str(both.result.agreement) == "4/4"
    assert str(alone.result.recovery) == "4/4"
    assert str(alone.result.agreement) == "0/4"
