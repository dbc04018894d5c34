"""python -m bench training-speed: WAREX's training beside plain TRL, on the same rows.

A model of random weights is trained by the paper's recipe (for one epoch), once by WAREX and once
by TRL's SFTTrainer as its documentation shows it, in turns and each in a process of its own.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.training.one_training import WAYS
from bench.training.random_model import SHAPES, random_model
from warex.exports.card import card
from warex.exports.dataset import DatasetManifest, UnwrittenDataset, write_dataset
from warex.exports.rows import Row
from warex.llm.actions.parser import Vocabulary
from warex.training.fine_tuning.hyperparameters import Hyperparameters

LEAST: Final = 1.0
"""Times the speed of plain TRL."""
_LINE: Final = "[{}] link 'Topic {} of the board, last answered by somebody yesterday'\n"


@dataclass(frozen=True, slots=True)
class Taken:
    """What one training took."""

    tokens_per_s: float
    memory: int
    """Bytes at most: the card's, or this process's."""
    use: float
    """Of the card, or of all processors: 0 to 1."""


def main(arguments: Sequence[str]) -> int:
    """Train in turns and print a table; return 1 where WAREX is slower."""
    parser = argparse.ArgumentParser(prog="python -m bench training-speed", description=__doc__)
    parser.add_argument("--size", choices=SHAPES, default="small", help="of the model")
    parser.add_argument("--examples", type=int, default=64, metavar="N")
    parser.add_argument("--tokens", type=int, default=700, metavar="N", help="of an example")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each")
    parser.add_argument(
        "--precision", choices=("bf16", "fp32"), default="bf16", help="of the weights, for both"
    )
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="examples in memory")
    asked = parser.parse_args(arguments)
    if min(asked.examples, asked.rounds, asked.at_once) < 1 or asked.tokens < 200:
        parser.error("--examples, --rounds and --at-once: 1 is the least; --tokens: 200")
    recipe = Hyperparameters(
        epochs=1,
        at_once=asked.at_once,
        max_length=2 * asked.tokens,
        precision=asked.precision,
    )
    with TemporaryDirectory(prefix="warex-speed-") as scratch:
        folder = Path(scratch)
        tokens = write_rows(folder / "data", asked.examples, asked.tokens)
        model = random_model(folder / "model", asked.size)
        taken: dict[str, list[Taken]] = {how: [] for how in WAYS}
        for turn in range(asked.rounds):
            for how, some in taken.items():
                out = folder / f"{how}-{turn}"
                some.append(_trained(how, folder / "data", model, out, recipe, tokens))
    print("| | tokens/s | memory | utilisation |\n| --- | --- | --- | --- |")
    for how, some in taken.items():
        speeds = f"{min(it.tokens_per_s for it in some):,.0f} to"
        speeds += f" {max(it.tokens_per_s for it in some):,.0f}"
        memory, use = max(it.memory for it in some), median(it.use for it in some)
        print(f"| {how} | {speeds} | {memory / 2**30:.1f} GiB | {use:.0%} |")
    ratio = _speed(taken["warex"]) / _speed(taken["trl"])
    print(f"\n{ratio:.2f} times the speed of plain TRL, by the medians of {asked.rounds}.")
    return 0 if ratio >= LEAST else 1


def write_rows(folder: Path, examples: int, tokens: int) -> int:
    """Write a data set of so many rows of so many bytes; return the tokens of all of them.

    They are those of the models here, which speak bytes.
    """
    rows = list(_rows(examples, tokens))
    manifest = DatasetManifest(format="sft", vocabularies={"made-up": Vocabulary(name="made-up")})
    write_dataset(folder, UnwrittenDataset(manifest, {"train": rows}), card)
    return sum(len(str(message["content"])) for row in rows for message in row.messages)


def _rows(examples: int, tokens: int) -> Iterator[Row]:
    for number in range(examples):
        page = "".join(_LINE.format(line, number * 7 + line) for line in range(tokens))
        answer = f"I open topic {number}.\nclick('{number}')"
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": page[: tokens - len(answer)]},
            {"role": "assistant", "content": answer},
        ]
        yield Row(
            id=f"row-{number}",
            kind="failure" if number % 2 else "clean",
            action="click",
            benchmark="made-up",
            agent="nobody",
            condition="none",
            task=f"task-{number}",
            site="bench.example",
            run="none",
            trial="none",
            step=1,
            vocabulary="made-up",
            messages=messages,
        )


def _trained(
    how: str, data: Path, model: Path, out: Path, recipe: Hyperparameters, tokens: int
) -> Taken:
    command = [sys.executable, "-m", "bench.training.one_training", how]
    command += [str(data), str(model), str(out), recipe.model_dump_json()]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"the training by {how} broke:\n{ended.stderr[-2000:]}")
    said = json.loads(ended.stdout.splitlines()[-1])
    return Taken(tokens * recipe.epochs / said["seconds"], said["memory"], said["use"])


def _speed(some: Sequence[Taken]) -> float:
    return median(it.tokens_per_s for it in some)
