"""A ranker is trained from rows, saved, and read back; damaged files are refused in a sentence."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.exports.builders import MANIFEST, failure, row
from warex.errors import InputError
from warex.exports.dataset import Dataset, UnwrittenDataset, read_dataset, write_dataset
from warex.training.ranking.ranker import (
    FACTS,
    WEIGHTS,
    RankerOptions,
    is_ranker,
    load_ranker,
    train_ranker,
)

NAMES = ("Save", "Pay", "Send", "Open")


def clean(at: int) -> dict[str, object]:
    wanted = NAMES[at % len(NAMES)]
    page = "\n".join(f"[{number}] button '{name}'" for number, name in enumerate(NAMES))
    return {
        "messages": [
            {"role": "user", "content": f"# Goal\n\n{wanted} it.\n\n# Page\n\n{page}"},
            {"role": "assistant", "content": f"click('{NAMES.index(wanted)}')"},
        ]
    }


def broken(at: int) -> dict[str, object]:
    page = f"heading '50{at % 4} Error'\n[1] button 'Home'\n[2] button 'Save'"
    return {
        "messages": [
            {"role": "user", "content": f"# Goal\n\nSave it.\n\n# Page\n\n{page}"},
            {"role": "assistant", "content": "reload()"},
        ]
    }


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    rows = [row(f"r{at}", **clean(at)) for at in range(12)]
    rows += [failure(f"f{at}", **broken(at)) for at in range(8)]
    write_dataset(tmp_path / "data", UnwrittenDataset(MANIFEST, {"train": rows}), lambda _: "")
    return read_dataset(tmp_path / "data")


def test_a_ranker_learns_its_rows_and_loads_the_same(data: Dataset, tmp_path: Path) -> None:
    trained = train_ranker(data, tmp_path / "ranker", RankerOptions(strength=10))

    read = load_ranker(tmp_path / "ranker")
    rows = data.rows("train")
    answers = [read.answer(it.prompt) for it in rows]
    assert answers == [trained.answer(it.prompt) for it in rows]
    assert answers == [it.answer["content"] for it in rows]
    assert is_ranker(str(tmp_path / "ranker"))
    assert not is_ranker(str(tmp_path))
    assert (read.facts.rows, read.facts.left_out) == (len(rows), 0)


def test_a_page_without_a_legal_action_has_no_answer(data: Dataset, tmp_path: Path) -> None:
    trained = train_ranker(data, tmp_path / "ranker")
    only_clicks = [it for it in trained.facts.templates if it.action == "click"]
    facts = trained.facts.model_copy(update={"templates": tuple(only_clicks)})

    prompt = [{"role": "user", "content": "# Page\n\nheading 'Nothing'"}]
    assert type(trained)(facts, trained.weights).answer(prompt) == ""


def _cut(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:40])


def _other_size(folder: Path) -> None:
    np.savez(folder / WEIGHTS, weights=np.zeros(3, np.float32))


def _pickled(folder: Path) -> None:
    np.savez(folder / WEIGHTS, weights=np.array([{}], object), allow_pickle=True)


def test_damaged_files_are_refused_in_a_sentence(data: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "ranker"
    train_ranker(data, folder)
    full = {name: (folder / name).read_bytes() for name in (FACTS, WEIGHTS)}
    damages: dict[str, Callable[[Path], object]] = {
        "is damaged": _cut,
        "does not fit": _other_size,
        "is damaged: Object arrays": _pickled,
        "holds no whole ranker": lambda of: (of / WEIGHTS).unlink(),
        f"{FACTS}: ": lambda of: (of / FACTS).write_text("{"),
    }

    for message, damage in damages.items():
        damage(folder)
        with pytest.raises(InputError, match=message):
            load_ranker(folder)
        for name, content in full.items():
            (folder / name).write_bytes(content)


def test_rows_without_an_action_cannot_be_trained_on(tmp_path: Path) -> None:
    talk = row(messages=[*row().messages[:1], {"role": "assistant", "content": "Hello."}])
    write_dataset(tmp_path / "data", UnwrittenDataset(MANIFEST, {"train": (talk,)}), lambda _: "")

    with pytest.raises(InputError, match="nothing to rank"):
        train_ranker(read_dataset(tmp_path / "data"), tmp_path / "ranker")
