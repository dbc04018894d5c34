import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.exports.builders import MANIFEST, failure, row
from warex.errors import InputError
from warex.exports.dataset import Dataset
from warex.exports.rows import LabelledAnswer, PreferencePair, RowMetadata
from warex.training.trl_data import (
    examples,
    for_chat_template,
    require_rows,
    require_two_kinds,
    sample_rows,
    truncate_prompt,
)


def words(messages: Sequence[Mapping[str, Any]]) -> int:
    return sum(len(str(message["content"]).split()) for message in messages)


def dataset(*rows: RowMetadata, kind: str = "sft") -> Dataset:
    manifest = MANIFEST.model_copy(update={"format": kind})
    return Dataset(Path("data"), manifest, {"train": rows})


def test_a_row_is_a_prompt_and_the_answer_that_the_loss_falls_on() -> None:
    ((example,), left_out) = examples([row()], words, 1000)

    assert example == {"prompt": row().prompt, "completion": [row().answer]}
    assert left_out == 0


def test_pairs_and_labels_are_examples_of_their_own() -> None:
    facts = failure().model_dump(exclude={"messages"})
    good = {"role": "assistant", "content": "reload()"}
    bad = {"role": "assistant", "content": "noop()"}
    pair = PreferencePair(**facts, prompt=row().prompt, chosen=[good], rejected=[bad])
    label = LabelledAnswer(**facts, prompt=row().prompt, completion=[bad], label=False)

    assert examples([pair], words, 100)[0] == [
        {"prompt": row().prompt, "chosen": [good], "rejected": [bad]}
    ]
    assert examples([label], words, 100)[0] == [
        {"prompt": row().prompt, "completion": [bad], "label": False}
    ]


def test_a_long_observation_is_cut_and_the_answer_never() -> None:
    page = {"role": "user", "content": "word " * 500}
    answer = {"role": "assistant", "content": "I load it again.\nreload()"}
    long = failure(messages=[page, answer])

    ((example,), left_out) = examples([long], words, 100)

    assert left_out == 0
    assert words(example["prompt"]) + words(example["completion"]) <= 100
    assert words(example["prompt"]) > 60
    assert example["completion"] == [answer]


def test_what_cannot_be_made_short_enough_is_left_out_and_counted() -> None:
    answer = {"role": "assistant", "content": "word " * 200}
    assert examples([failure(messages=[*row().prompt, answer])], words, 100) == ([], 1)
    assert truncate_prompt(row().prompt, words, 0) is None


def test_arguments_of_tool_calls_are_objects_for_a_chat_template() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    spoilt = {**call, "function": {"name": "f", "arguments": "{"}}
    message = {"role": "assistant", "content": "", "tool_calls": [call, spoilt], "name": None}

    (written,) = for_chat_template([message])

    inputs = [one["function"]["arguments"] for one in written["tool_calls"]]
    assert inputs == [{"a": 1}, {"": "{"}]
    assert "name" not in written
    assert json.loads(call["function"]["arguments"]) == {"a": 1}  # type: ignore[index]


def test_data_of_one_kind_is_refused_unless_it_is_of_preferences() -> None:
    require_two_kinds(dataset(row(), failure()))
    require_two_kinds(dataset(failure(), kind="dpo"))
    with pytest.raises(InputError, match="all 2 rows of train are of the kind failure, and none"):
        require_two_kinds(dataset(failure("a"), failure("b")))


def test_a_data_set_with_nothing_to_learn_or_with_screenshots_is_refused() -> None:
    require_rows(dataset(row()))
    with pytest.raises(InputError, match="data has no row in train"):
        require_rows(dataset())
    with pytest.raises(InputError, match=r"data has screenshots, .* export with --no-images"):
        require_rows(dataset(row(images=("images/a.png",))))


def test_a_sample_of_rows_has_both_kinds() -> None:
    rows = [row(id=f"clean-{number}") for number in range(20)]
    rows += [failure(id=f"failure-{number}") for number in range(20)]

    some, more = sample_rows(rows, 5), sample_rows(rows, 8)

    assert [it.kind for it in some] == ["clean"] * 5 + ["failure"] * 5
    assert some != [*rows[:5], *rows[20:25]]
    assert {it.id for it in some} < {it.id for it in more}
    assert sample_rows(rows, None) == rows
