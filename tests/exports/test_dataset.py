import json
from pathlib import Path

import polars
import pytest

from tests.exports.builders import MANIFEST, failure, row
from warex.errors import InputError
from warex.exports.dataset import (
    UnwrittenDataset,
    read_dataset,
    require_empty_folder,
    write_dataset,
)

PAIR = (row("a"), failure("b"))


def written(folder: Path) -> Path:
    splits = {"train": [row("a"), failure("b", relabelled=True)], "test": [failure("c")]}
    write_dataset(
        folder,
        UnwrittenDataset(MANIFEST, splits, {"images/x.png": b"PNG"}),
        lambda manifest: "# Card\n",
    )
    return folder


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    dataset = read_dataset(written(tmp_path / "data"))

    assert [it.id for it in dataset.rows("train")] == ["a", "b"]
    assert dataset.rows("test") == (failure("c"),)
    assert dataset.rows("validation") == ()
    assert dataset.vocabulary(row()).retry == ("reload",)
    assert (tmp_path / "data/images/x.png").read_bytes() == b"PNG"


def test_the_manifest_counts_what_each_split_holds(tmp_path: Path) -> None:
    train = read_dataset(written(tmp_path / "data")).manifest.splits["train"]

    assert (train.examples, train.failure, train.clean, train.relabelled) == (2, 1, 1, 1)
    assert (train.sites, train.page_families, train.faults) == (
        ("shop.example",),
        ("nginx",),
        ("http_error",),
    )


def test_examples_after_a_reload_are_counted_by_kind(tmp_path: Path) -> None:
    asked = [{"role": "assistant", "content": "reload()"}]
    clean, failed = (it.model_copy(update={"messages": asked + it.messages}) for it in PAIR)
    rows = [clean, clean, failed, *PAIR]

    draft = UnwrittenDataset(MANIFEST, {"train": rows})
    train = write_dataset(tmp_path / "data", draft, lambda _: "").splits["train"]

    assert (train.clean_after_reload, train.failure_after_reload) == (2, 1)


def test_parquet_holds_the_same_rows_as_json_lines(tmp_path: Path) -> None:
    folder = written(tmp_path / "data")
    lines = [json.loads(it) for it in (folder / "train.jsonl").read_text().splitlines()]

    rows = polars.read_parquet(folder / "train.parquet").to_dicts()

    assert rows == lines


def test_a_folder_that_holds_something_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")

    with pytest.raises(InputError, match="is not empty"):
        require_empty_folder(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        require_empty_folder(tmp_path / "mine.txt")


def test_a_folder_that_is_not_a_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a data set.*warex export"):
        read_dataset(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("{", "[", r"train\.jsonl:1: this is not a row of the format sft: Invalid JSON"),
        ('"step":', '"stp":', r"train\.jsonl:1: .* step: Field required"),
        ("shop.example", "x.example", "was changed since"),
    ],
)
def test_a_corrupt_row_is_named_with_file_and_line(
    tmp_path: Path, old: str, new: str, text: str
) -> None:
    folder = written(tmp_path / "data")
    first, *rest = (folder / "train.jsonl").read_text().splitlines()
    (folder / "train.jsonl").write_text("\n".join([first.replace(old, new), *rest]) + "\n")

    with pytest.raises(InputError, match=text):
        read_dataset(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "Invalid JSON"), ('{"schema_version": 2}', "schema_version"), ("{}", "format")],
)
def test_a_corrupt_manifest_is_named(tmp_path: Path, text: str, message: str) -> None:
    folder = written(tmp_path / "data")
    (folder / "dataset.json").write_text(text)

    with pytest.raises(InputError, match=rf"dataset\.json: .*{message}"):
        read_dataset(folder)


def test_a_missing_split_and_an_unknown_vocabulary_are_named(tmp_path: Path) -> None:
    folder = written(tmp_path / "one")
    (folder / "test.jsonl").unlink()
    with pytest.raises(InputError, match=r"test\.jsonl cannot be read"):
        read_dataset(folder)

    write_dataset(
        tmp_path / "two",
        UnwrittenDataset(MANIFEST, {"train": [row(vocabulary="step")]}),
        lambda _: "",
    )
    with pytest.raises(InputError, match="there is no vocabulary 'step', which row r1 names"):
        read_dataset(tmp_path / "two")


def test_rows_of_another_format_are_not_what_is_asked_for(tmp_path: Path) -> None:
    dataset = read_dataset(written(tmp_path / "data"))

    with pytest.raises(InputError, match="format sft, not dpo: export it with --to dpo"):
        dataset.pairs("train")
