"""`warex train`: train a LoRA adapter, or all weights of a model, on a data set."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from warex.cli.options.parameters import PATH
from warex.cli.options.training import data_option, training_options
from warex.cli.output import echo
from warex.text.english import count_noun


@click.command("train")
@data_option
@click.option("--model", metavar="NAME", help="A folder, a hub name or a .gguf file.")
@click.option(
    "--ranker",
    is_flag=True,
    help="Train, in seconds, a small model that ranks a page's actions; it has no --model. If all"
    " data is of one site, export it with --split none.",
)
@click.option("-o", "--out", type=PATH, required=True, metavar="DIR", help="Folder for the result.")
@click.option("--adapter", type=PATH, metavar="DIR", help="Continue training this adapter.")
@click.option("--resume", is_flag=True, help="Continue from the last complete checkpoint.")
@click.option("--one-sided", is_flag=True, help="Accept only failures, or only clean steps.")
@click.option("--dpo", is_flag=True, help="Require a data set of pairs.")
@click.option("--seed", type=click.IntRange(0), help="[default: 0]")
@training_options
def command(
    data: Path,
    model: str | None,
    ranker: bool,
    out: Path,
    adapter: Path | None,
    resume: bool,
    one_sided: bool,
    dpo: bool,
    **recipe: Any,
) -> None:
    """Train a LoRA adapter, or with --full the model, by default as in the paper.

    The data set's format decides: supervised fine-tuning (sft), DPO or KTO. The loss is on the
    answers only, and the best epoch by validation is kept. With --ranker only --data and --out
    apply.
    """
    if ranker:
        _train_ranker(data, out)
        return
    if model is None:
        raise click.UsageError("Missing option '--model'; or train a --ranker")
    from warex.cli.progress.reporter import ProgressReporter
    from warex.exports.dataset import read_dataset
    from warex.training.evaluation.answer_classes import is_right
    from warex.training.fine_tuning.hyperparameters import Hyperparameters
    from warex.training.fine_tuning.result import TrainingProgress
    from warex.training.fine_tuning.trainer import applied_recipe, is_first_process, train
    from warex.training.model.loading import require_packages

    def report(text: str) -> None:
        if is_first_process():
            echo(text)

    dataset = read_dataset(data)
    if dpo:
        dataset.pairs("train")
    require_packages()
    chosen = applied_recipe(
        Hyperparameters(**{name: value for name, value in recipe.items() if value is not None}),
        dataset.manifest.format,
        adapter,
    )
    facts = dataset.manifest.splits.get("train")
    if facts is not None:
        report(f"data      {count_noun(facts.examples, 'example')}: {facts.failure} failure,"
            f" {facts.clean} clean")  # fmt: skip
    report(
        f"recipe    {', '.join(f'{name} {value}' for name, value in chosen.model_dump().items())}"
    )
    countdown: ProgressReporter | None = None
    shown: dict[str, float] = {}

    def show(progress: TrainingProgress) -> None:
        nonlocal countdown
        # Loading and the steps of an earlier run do not count towards the estimate.
        countdown = countdown or ProgressReporter("steps", initial=progress.step)
        shown.update(progress.values)
        losses = (f"{name} {shown[name]:.4f}" for name in ("loss", "eval_loss") if name in shown)
        countdown.update(progress.step, progress.steps, ", ".join(losses))

    trained = train(
        dataset,
        model,
        out,
        chosen,
        adapter=adapter,
        resume=resume,
        one_sided=one_sided,
        is_right=is_right,
        on_step=show,
    )
    if trained.left_out:
        report(
            f"left out  {count_noun(trained.left_out, 'row')}, too long for"
            f" {chosen.max_length} tokens"
        )
    if trained.validation_loss is not None:
        right = "" if trained.right is None else f", right in {trained.right:.0%} of its rows"
        report(f"best      validation loss {trained.validation_loss:.4f}{right}")
    if chosen.at_once == "auto":
        report(f"at once   {count_noun(trained.at_once, 'example')}")
    report(f"{'model    ' if chosen.full else 'adapter  '} {trained.folder}")


def _train_ranker(data: Path, out: Path) -> None:
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        source = context.get_parameter_source(name)
        if name not in ("data", "out", "ranker") and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} does not go with --ranker")
    from warex.exports.dataset import read_dataset
    from warex.training.ranking.ranker import train_ranker

    facts = train_ranker(read_dataset(data), out).facts
    echo(f"data      {count_noun(facts.rows, 'example')}")
    if facts.left_out:
        echo(
            f"left out  {count_noun(facts.left_out, 'row')}, whose answers are not actions that the"
            " page offers"
        )
    echo(f"ranker    {out}")
