"""Converts the rows of a data set to TRL's examples."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from warex.errors import InputError
from warex.exports.balance import balance_rows
from warex.exports.dataset import Dataset
from warex.exports.fitting import fit_messages
from warex.exports.rows import ChatMessage, LabelledAnswer, PreferencePair, Row, RowMetadata

type Length = Callable[[Sequence[ChatMessage]], int]
"""Tokens of messages, written by the model's chat template."""

_TRIES: Final = 6
_SLACK: Final = 0.95


def sample_rows(rows: Sequence[Row], most: int | None) -> list[Row]:
    """Return up to ``most`` rows of each kind (None: all); larger samples contain smaller ones."""
    return list(balance_rows(rows, None, 0, most))


def require_rows(dataset: Dataset) -> None:
    """Raise InputError if a data set has no training rows, or has screenshots."""
    rows = dataset.splits.get("train", ())
    if not rows:
        raise InputError(f"{dataset.folder} has no row in train: there is nothing to learn")
    if any(row.images for row in rows):
        raise InputError(
            f"{dataset.folder} has screenshots, and language models alone are trained here: export"
            " with --no-images, or train a vision model with TRL, which reads train.jsonl"
        )


def require_two_kinds(dataset: Dataset) -> None:
    """Raise InputError if a data set's training rows are all of one kind.

    A model trained only on failures learns to always reload; one trained without them learns
    nothing about them. Preferences contain only failures.
    """
    rows = dataset.splits.get("train", ())
    kinds = {row.kind for row in rows}
    if dataset.manifest.format != "dpo" and len(kinds) == 1:
        (kind,) = kinds
        other = "clean" if kind == "failure" else "failure"
        raise InputError(
            f"{dataset.folder}: all {len(rows)} rows of train are of the kind {kind}, and none is"
            f" {other}: the model would answer all alike. Export both, or accept it with"
            " --one-sided"
        )


def examples(
    rows: Sequence[RowMetadata], length: Length, max_length: int
) -> tuple[list[dict[str, Any]], int]:
    """Return rows as TRL's examples, and the number of rows that do not fit.

    An example of more than ``max_length`` tokens is cut at its page's end, never in its answer.
    """
    trl_examples: list[dict[str, Any]] = []
    for row in rows:
        prompt, answers = _parts(row)
        room = max_length - max(
            length([*prompt, *answer]) - length(prompt) for answer in answers.values()
        )
        short = truncate_prompt(prompt, length, room)
        if short is None:
            continue
        written = {name: for_chat_template(answer) for name, answer in answers.items()}
        example: dict[str, Any] = {"prompt": for_chat_template(short), **written}
        if isinstance(row, LabelledAnswer):
            example["label"] = row.label
        if row.tools:
            example["tools"] = json.dumps(row.tools)
        trl_examples.append(example)
    return trl_examples, len(rows) - len(trl_examples)


def truncate_prompt(
    prompt: Sequence[ChatMessage], length: Length, largest: int
) -> list[ChatMessage] | None:
    """Return a prompt cut to at most ``largest`` tokens, or None if that is impossible."""
    tokens = length(prompt)
    messages: list[ChatMessage] | None = list(prompt)
    characters = float(sum(len(json.dumps(message)) for message in prompt))
    end: ChatMessage = {"role": "assistant", "content": ""}
    for _ in range(_TRIES):
        if tokens <= largest or messages is None:
            return messages
        characters *= _SLACK * largest / tokens
        fitted = fit_messages([*prompt, end], int(characters))
        messages = fitted.messages[:-1] if fitted else None
        tokens = length(messages) if messages else 0
    return messages if tokens <= largest else None


def for_chat_template(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return messages as chat templates read them, with tool arguments as objects."""
    return [dict(_plain(message)) for message in messages]


def _plain(message: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in message.items():
        if key == "tool_calls":
            yield key, [_call(call) for call in value or ()]
        elif value is not None or key == "content":
            yield key, value


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call.get("function") or {})
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            function["arguments"] = json.loads(arguments or "{}")
        except ValueError:
            function["arguments"] = {"": arguments}
    return {**call, "function": function}


def _parts(row: RowMetadata) -> tuple[list[ChatMessage], dict[str, list[ChatMessage]]]:
    match row:
        case Row():
            return row.prompt, {"completion": [row.answer]}
        case PreferencePair():
            return row.prompt, {"chosen": row.chosen, "rejected": row.rejected}
        case LabelledAnswer():
            return row.prompt, {"completion": row.completion}
        case _:
            raise TypeError(f"{type(row).__name__} is not a row of a data set")
