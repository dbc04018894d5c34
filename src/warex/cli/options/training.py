"""Command-line options of the training hyperparameters."""

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import click

model_option = click.option(
    "--model", required=True, metavar="NAME", help="A folder, a hub's name, or a .gguf file."
)
precision_option = click.option(
    "--precision",
    type=click.Choice(("auto", "bf16", "fp32")),
    default="auto",
    show_default=True,
    help="Of the weights.",
)
_OPTIONS: Final = (
    click.option("--rank", type=click.IntRange(1), help="Of LoRA's matrices.  [default: 8]"),
    click.option(
        "--alpha", type=click.IntRange(1), help="LoRA's scale is alpha / rank. [default: 16]"
    ),
    click.option("--dropout", type=click.FloatRange(0, 1, max_open=True), help="[default: 0]"),
    click.option("--epochs", type=click.FloatRange(0, min_open=True), help="[default: 4]"),
    click.option("--batch", type=click.IntRange(1), help="Examples an update.  [default: 8]"),
    click.option(
        "--at-once", type=click.IntRange(1), help="Of them in memory at once.  [default: 1]"
    ),
    click.option(
        "--learning-rate", type=click.FloatRange(0, 1, min_open=True), help="[default: 0.0001]"
    ),
    click.option(
        "--schedule",
        type=click.Choice(("cosine", "linear", "constant")),
        help="Of the learning rate.  [default: cosine, half a cycle]",
    ),
    click.option("--warmup", type=click.FloatRange(0, 1, max_open=True), help="[default: 0]"),
    click.option("--grad-norm", type=click.FloatRange(0, min_open=True), help="[default: 1]"),
    click.option(
        "--max-length", type=click.IntRange(32), help="Tokens of an example.  [default: 4096]"
    ),
    click.option("--packing", is_flag=True, default=None, help="Several examples in one sequence."),
    click.option(
        "--gradient-checkpointing",
        is_flag=True,
        default=None,
        help="Less memory, for a third more time.",
    ),
    click.option("--qlora", is_flag=True, default=None, help="Base weights in 4 bits (NVIDIA)."),
    click.option(
        "--precision",
        type=click.Choice(("auto", "bf16", "fp32")),
        help="Of the base weights.  [default: auto]",
    ),
    click.option(
        "--beta", type=click.FloatRange(0, min_open=True), help="Of DPO, KTO. [default: 0.1]"
    ),
)


def training_options[F: Callable[..., Any]](command: F) -> F:
    """Add the options to a command; those not given are None."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)
