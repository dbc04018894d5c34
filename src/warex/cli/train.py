"""`warex train`: a LoRA adapter, trained on what runs teach."""

from pathlib import Path
from typing import Any

import click

from warex.cli.say import say
from warex.visible import counted


@click.command("train")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="A data set of `warex export`.",
)
@click.option(
    "--model", required=True, metavar="NAME", help="A folder, a hub's name, or a .gguf file."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Where the adapter goes.",
)
@click.option(
    "--adapter",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="An adapter to go on from; left out, a new one.",
)
@click.option("--resume", is_flag=True, help="Go on at the last whole checkpoint in the folder.")
@click.option("--one-sided", is_flag=True, help="Accept failures alone, or clean steps alone.")
@click.option(
    "--dpo", is_flag=True, help="Expect pairs; left out, the data set's format says what is learnt."
)
@click.option("--rank", type=click.IntRange(1), help="Of LoRA's matrices.  [default: 8]")
@click.option("--alpha", type=click.IntRange(1), help="LoRA's scale is alpha / rank. [default: 16]")
@click.option("--dropout", type=click.FloatRange(0, 1, max_open=True), help="[default: 0]")
@click.option("--epochs", type=click.FloatRange(0, min_open=True), help="[default: 4]")
@click.option("--batch", type=click.IntRange(1), help="Examples an update.  [default: 8]")
@click.option("--at-once", type=click.IntRange(1), help="Of them in memory at once.  [default: 1]")
@click.option(
    "--learning-rate", type=click.FloatRange(0, 1, min_open=True), help="[default: 0.0001]"
)
@click.option(
    "--schedule",
    type=click.Choice(("cosine", "linear", "constant")),
    help="Of the learning rate.  [default: cosine, half a cycle]",
)
@click.option("--warmup", type=click.FloatRange(0, 1, max_open=True), help="[default: 0]")
@click.option("--grad-norm", type=click.FloatRange(0, min_open=True), help="[default: 1]")
@click.option(
    "--max-length", type=click.IntRange(32), help="Tokens of an example.  [default: 4096]"
)
@click.option("--packing", is_flag=True, default=None, help="Several examples in one sequence.")
@click.option(
    "--gradient-checkpointing",
    is_flag=True,
    default=None,
    help="Less memory, for a third more time.",
)
@click.option("--qlora", is_flag=True, default=None, help="Base weights in 4 bits (NVIDIA).")
@click.option(
    "--precision",
    type=click.Choice(("auto", "bf16", "fp32")),
    help="Of the base weights.  [default: auto]",
)
@click.option("--beta", type=click.FloatRange(0, min_open=True), help="Of DPO, KTO. [default: 0.1]")
@click.option("--seed", type=click.IntRange(0), help="[default: 0]")
def command(
    data: Path,
    model: str,
    out: Path,
    adapter: Path | None,
    resume: bool,
    one_sided: bool,
    dpo: bool,
    **recipe: Any,
) -> None:
    """Train a LoRA adapter on a data set; the paper's recipe is the default.

    Data sets of the format sft are learnt by supervised fine-tuning, those of dpo and kto by
    preference. The loss falls on the answers alone. The best epoch by validation is kept.
    """
    from warex.cli.countdown import Countdown
    from warex.exports.dataset import read_dataset
    from warex.training.model import require_extra
    from warex.training.recipe import Recipe
    from warex.training.train import Progress, train

    dataset = read_dataset(data)
    if dpo:
        dataset.pairs("train")
    require_extra()
    chosen = Recipe(**{name: value for name, value in recipe.items() if value is not None})
    facts = dataset.manifest.splits.get("train")
    if facts is not None:
        say(f"data      {counted(facts.examples, 'example')}: {facts.failure} failure,"
            f" {facts.clean} clean")  # fmt: skip
    say(f"recipe    {', '.join(f'{name} {value}' for name, value in chosen.model_dump().items())}")
    countdown, shown = Countdown("steps"), dict[str, float]()

    def tell(progress: Progress) -> None:
        shown.update(progress.values)
        told = (f"{name} {shown[name]:.4f}" for name in ("loss", "eval_loss") if name in shown)
        countdown.tell(progress.step, progress.steps, ", ".join(told))

    trained = train(
        dataset,
        model,
        out,
        chosen,
        adapter=adapter,
        resume=resume,
        one_sided=one_sided,
        tell=tell,
    )
    if trained.left_out:
        say(
            f"left out  {counted(trained.left_out, 'row')}, too long for {chosen.max_length} tokens"
        )
    if trained.validation_loss is not None:
        say(f"best      validation loss {trained.validation_loss:.4f}")
    say(f"adapter   {trained.folder}")
