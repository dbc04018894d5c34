"""Options of the commands that train a model or run one."""

from typing import Any

import click

from warex.cli.options.parameters import PATH, add_options

_PRECISIONS = click.Choice(("auto", "bf16", "fp32"))

data_option = click.option(
    "--data", type=PATH, required=True, metavar="DIR", help="A data set of `warex export`."
)
model_option = click.option(
    "--model",
    required=True,
    metavar="NAME",
    help="A folder, also of a ranker, a hub name or a .gguf file.",
)
language_model_option = click.option(
    "--model", required=True, metavar="NAME", help="A folder, a hub name or a .gguf file."
)
adapters_option = click.option(
    "--adapter",
    "adapters",
    multiple=True,
    type=PATH,
    metavar="DIR",
    help="An adapter, used beside the model itself.",
)
legal_option = click.option(
    "--legal",
    type=PATH,
    metavar="DIR",
    help="Bind answers to elements of the page, in the forms of this data set or ranker.",
)
batch_option = click.option(
    "--batch", type=click.IntRange(1), default=8, help="Answer this many prompts at once."
)
limit_option = click.option(
    "--limit",
    type=click.IntRange(1),
    help="Ask at most this many rows of each kind, pairs of the hard test.",
)
precision_option = click.option(
    "--precision", type=_PRECISIONS, default="auto", help="Number format of the weights."
)


class _AtOnce(click.ParamType[int | str]):
    """A number of examples, or ``auto``."""

    name = "N|auto"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        return "auto" if value == "auto" else click.IntRange(1).convert(value, param, ctx)


training_options = add_options(
    click.option("--full", is_flag=True, default=None, help="Train all weights, not an adapter."),
    click.option(
        "--target",
        metavar="NAMES",
        help="Modules that LoRA adapts, separated by commas. [default: all-linear]",
    ),
    click.option("--rank", type=click.IntRange(1), help="Rank of LoRA's matrices. [default: 8]"),
    click.option(
        "--alpha", type=click.IntRange(1), help="LoRA's scale, divided by the rank. [default: 16]"
    ),
    click.option(
        "--dropout",
        type=click.FloatRange(0, 1, max_open=True),
        help="Share of LoRA's inputs that are dropped. [default: 0]",
    ),
    click.option(
        "--epochs",
        type=click.FloatRange(0, min_open=True),
        help="Passes over the data. [default: 4]",
    ),
    click.option("--batch", type=click.IntRange(1), help="Examples per update. [default: 8]"),
    click.option(
        "--at-once", type=_AtOnce(), help="Examples in memory; auto: what fits. [default: 1]"
    ),
    click.option(
        "--group-by-length",
        is_flag=True,
        default=None,
        help="Batch examples of similar length: less padding.",
    ),
    click.option(
        "--learning-rate",
        type=click.FloatRange(0, 1, min_open=True),
        help="Peak learning rate. [default: 0.0001]",
    ),
    click.option(
        "--schedule",
        type=click.Choice(("cosine", "linear", "constant")),
        help="Learning-rate schedule. [default: cosine, half a cycle]",
    ),
    click.option(
        "--warmup",
        type=click.FloatRange(0, 1, max_open=True),
        help="Share of the steps in which the learning rate rises. [default: 0]",
    ),
    click.option(
        "--grad-norm",
        type=click.FloatRange(0, min_open=True),
        help="Clip gradients to this norm. [default: 1]",
    ),
    click.option(
        "--max-length",
        type=click.IntRange(32),
        help="Cut an example to this many tokens, at the end of its page. [default: 4096]",
    ),
    click.option("--packing", is_flag=True, default=None, help="Pack examples into sequences."),
    click.option(
        "--gradient-checkpointing",
        is_flag=True,
        default=None,
        help="Save memory; training takes about a third longer.",
    ),
    click.option("--qlora", is_flag=True, default=None, help="4-bit base weights (NVIDIA)."),
    click.option(
        "--precision", type=_PRECISIONS, help="Number format of the base weights. [default: auto]"
    ),
    click.option(
        "--keep-best",
        type=click.Choice(("loss", "recovery")),
        help="Choose the best epoch by validation loss, or by answers. [default: loss]",
    ),
    click.option(
        "--beta",
        type=click.FloatRange(0, min_open=True),
        help="Beta of DPO and KTO: a lower one lets the model move further. [default: 0.1]",
    ),
)
