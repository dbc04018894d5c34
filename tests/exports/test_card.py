from pathlib import Path

import yaml

from tests.exports.builders import MANIFEST, failure, row
from warex.exports.card import card
from warex.exports.dataset import SplitFacts, UnwrittenDataset, write_dataset
from warex.exports.rows import PreferencePair
from warex.exports.separability import Separability


def test_the_card_counts_names_and_says_how_to_load() -> None:
    facts = SplitFacts(
        examples=2,
        failure=1,
        clean=1,
        relabelled=1,
        rewritten=2,
        cut=1,
        cut_elements=3,
        clean_after_reload=1,
        sites=("shop.example",),
        page_families=("nginx",),
        faults=("http_error",),
        agents=("patient",),
        benchmarks=("testbed",),
        sha256="0" * 64,
    )
    changed = {
        "splits": {"train": facts},
        "license": "cc-by-4.0",
        "seed": 7,
        "leaks": ("page_family nginx: train and test",),
        "left_out": {"lost": 3},
        "separability": (
            Separability(
                rule="words of the prompt",
                balanced_accuracy=0.975,
                failures_found=1,
                false_alarms=0.05,
                held_out="site",
                rows=40,
            ),
        ),
    }

    text = card(MANIFEST.model_copy(update=changed))

    _, head, body = text.split("---\n", 2)
    facts = yaml.safe_load(head)
    assert facts["license"] == "cc-by-4.0"
    assert facts["configs"][0]["data_files"] == [{"split": "train", "path": "train.parquet"}]
    assert "| train | 2 | 1 | 1 | 1 | 1 | 1 | 1 |" in body
    assert "| seed | 7 |" in body
    assert "In train 100% (2 of 2) of the examples are rewritten" in body
    assert "Of\n50% (1 of 2) the answer is WAREX's." in body
    assert "In train the pages of 1 of 2 examples are cut at\ntheir end, by 3 elements" in body
    assert "reload in 0% (0 of 1) of\nthe failures and 100% (1 of 1) of the clean examples" in body
    assert f"| SHA-256 of train.jsonl | `{'0' * 64}` |" in body
    assert "\n- page_family nginx: train and test\n" in body
    assert "\n- 3: lost\n" in body
    assert "of sites that they were not\nlearnt from (40 rows;" in body
    assert "| words of the prompt | 97.5% | 100.0% | 5.0% |" in body
    assert "load_dataset" in body


def card_of_pairs(folder: Path, *models: str) -> str:
    """Return the card of preference pairs, one of each model's rejected answer."""
    facts = failure().model_dump(exclude={"messages"})
    pairs = [
        PreferencePair(
            **facts,
            prompt=failure().prompt,
            chosen=[failure().answer],
            rejected=[row().answer],
            rejected_model=model,
        )
        for model in models
    ]
    manifest = MANIFEST.model_copy(update={"format": "dpo"})
    write_dataset(folder / "pairs", UnwrittenDataset(manifest, {"train": pairs}), card)
    return (folder / "pairs" / "README.md").read_text()


def test_the_card_of_pairs_says_whose_answers_were_rejected(tmp_path: Path) -> None:
    text = card_of_pairs(tmp_path, "scripted:giveup", "qwen3-8b", "qwen3-8b")
    assert "The rejected answers of train are of 2 models:" in text
    assert "| qwen3-8b | 2 |  |" in text
    assert "| scripted:giveup | 1 | scripted by WAREX |" in text


def test_no_name_of_a_model_breaks_the_cards_table(tmp_path: Path) -> None:
    text = card_of_pairs(tmp_path, "a|b\n# c<script>", "m" * 10_000)
    assert r"| a\|b" in text
    assert "\n# c" not in text
    assert "<script>" not in text
    assert f"| {'m' * 80}… | 1 |" in text


def test_a_card_of_another_format_names_its_columns() -> None:
    assert "`chosen`" in card(MANIFEST.model_copy(update={"format": "dpo"}))
    assert "`label`" in card(MANIFEST.model_copy(update={"format": "kto"}))
