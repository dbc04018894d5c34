"""Options of the commands that train a model or run one."""

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
adapters_option = click.option(
    "--adapter",
    "adapters",
    multiple=True,
    type=PATH,
    metavar="DIR",
    help="An adapter, used beside the model itself.",
)
batch_option = click.option("--batch", type=click.IntRange(1), default=8, help="Prompts at once.")
limit_option = click.option("--limit", type=click.IntRange(1), help="Most rows asked of each kind.")
precision_option = click.option(
    "--precision", type=_PRECISIONS, default="auto", help="Of the weights."
)
training_options = add_options(
    click.option("--rank", type=click.IntRange(1), help="LoRA rank. [default: 8]"),
    click.option("--alpha", type=click.IntRange(1), help="LoRA alpha. [default: 16]"),
    click.option("--dropout", type=click.FloatRange(0, 1, max_open=True), help="[default: 0]"),
    click.option("--epochs", type=click.FloatRange(0, min_open=True), help="[default: 4]"),
    click.option("--batch", type=click.IntRange(1), help="Examples per update. [default: 8]"),
    click.option("--at-once", type=click.IntRange(1), help="Examples in memory. [default: 1]"),
    click.option(
        "--learning-rate", type=click.FloatRange(0, 1, min_open=True), help="[default: 0.0001]"
    ),
    click.option(
        "--schedule",
        type=click.Choice(("cosine", "linear", "constant")),
        help="Of the learning rate. [default: cosine, half a cycle]",
    ),
    click.option("--warmup", type=click.FloatRange(0, 1, max_open=True), help="[default: 0]"),
    click.option("--grad-norm", type=click.FloatRange(0, min_open=True), help="[default: 1]"),
    click.option("--max-length", type=click.IntRange(32), help="In tokens. [default: 4096]"),
    click.option("--packing", is_flag=True, default=None, help="Pack examples into sequences."),
    click.option(
        "--gradient-checkpointing",
        is_flag=True,
        default=None,
        help="Less memory for a third more time.",
    ),
    click.option("--qlora", is_flag=True, default=None, help="4-bit base weights (NVIDIA)."),
    click.option("--precision", type=_PRECISIONS, help="Of the base weights. [default: auto]"),
    click.option(
        "--beta", type=click.FloatRange(0, min_open=True), help="Of DPO and KTO. [default: 0.1]"
    ),
)
