"""python -m bench training-speed: compare WAREX's training with plain TRL, on the same rows.

A model with random weights is trained by the paper's recipe (for one epoch), by WAREX and by TRL's
SFTTrainer as its documentation shows it, in turns, each time in a new process.
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

from bench.training.one_training import TRAINERS
from bench.training.random_model import SHAPES, random_model
from warex.exports.card import card
from warex.exports.dataset import DatasetManifest, UnwrittenDataset, write_dataset
from warex.exports.rows import Row
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.fine_tuning.hyperparameters import Hyperparameters

MIN_RATIO: Final = 1.0
"""Required ratio to the speed of plain TRL."""
_LINE: Final = "[{}] link 'Topic {} of the board, last answered by somebody yesterday'\n"


@dataclass(frozen=True, slots=True)
class Measurement:
    """The cost of one training."""

    tokens_per_s: float
    memory: int
    """Peak bytes, of the GPU or of the process."""
    use: float
    """Utilisation of the GPU or of all CPUs, 0 to 1."""


def main(arguments: Sequence[str]) -> int:
    """Train in turns and print a table; return 1 if WAREX is slower."""
    parser = argparse.ArgumentParser(prog="python -m bench training-speed", description=__doc__)
    parser.add_argument("--size", choices=SHAPES, default="small", help="size of the model")
    parser.add_argument("--examples", type=int, default=64, metavar="N")
    parser.add_argument("--tokens", type=int, default=700, metavar="N", help="tokens per example")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="trainings of each kind")
    parser.add_argument(
        "--precision", choices=("bf16", "fp32"), default="bf16", help="precision of the weights"
    )
    parser.add_argument(
        "--at-once", type=int, default=1, metavar="N", help="examples per device batch"
    )
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
        measured: dict[str, list[Measurement]] = {how: [] for how in TRAINERS}
        for turn in range(asked.rounds):
            for how, some in measured.items():
                out = folder / f"{how}-{turn}"
                some.append(_train(how, folder / "data", model, out, recipe, tokens))
    print("| | tokens/s | memory | utilisation |\n| --- | --- | --- | --- |")
    for how, some in measured.items():
        speeds = f"{min(it.tokens_per_s for it in some):,.0f} to"
        speeds += f" {max(it.tokens_per_s for it in some):,.0f}"
        memory, use = max(it.memory for it in some), median(it.use for it in some)
        print(f"| {how} | {speeds} | {memory / 2**30:.1f} GiB | {use:.0%} |")
    ratio = _speed(measured["warex"]) / _speed(measured["trl"])
    print(f"\n{ratio:.2f} times the speed of plain TRL, by the medians of {asked.rounds}.")
    return 0 if ratio >= MIN_RATIO else 1


def write_rows(folder: Path, examples: int, tokens: int) -> int:
    """Write a dataset of rows; return their total number of tokens, which are bytes."""
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


def _train(
    how: str, data: Path, model: Path, out: Path, recipe: Hyperparameters, tokens: int
) -> Measurement:
    command = [sys.executable, "-m", "bench.training.one_training", how]
    command += [str(data), str(model), str(out), recipe.model_dump_json()]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"the training by {how} broke:\n{ended.stderr[-2000:]}")
    report = json.loads(ended.stdout.splitlines()[-1])
    return Measurement(tokens * recipe.epochs / report["seconds"], report["memory"], report["use"])


def _speed(some: Sequence[Measurement]) -> float:
    return median(it.tokens_per_s for it in some)
