"""Supervised fine-tuning and preference training by TRL, with LoRA (paper §4.2) or of all weights.

WAREX supplies the data, the hyperparameters, and the resumption of an interrupted training.
"""

import errno
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from warex.errors import InputError, MachineError
from warex.exports.dataset import Dataset, require_empty_folder
from warex.exports.names import Format
from warex.exports.rows import ChatMessage
from warex.text.escaping import escape_surrogates
from warex.traces.files import write_atomic
from warex.training.fine_tuning.batch_size import at_once, divide_batch
from warex.training.fine_tuning.best_checkpoint import RIGHT, IsRight, require_answers, scoring
from warex.training.fine_tuning.devices import processes, require_launcher, visible_cards
from warex.training.fine_tuning.hyperparameters import Hyperparameters, flag
from warex.training.fine_tuning.loss_mask import mask_prompt_loss, require_answer_after_prompt
from warex.training.fine_tuning.model_card import model_card
from warex.training.fine_tuning.record import (
    RECIPE,
    read_record,
    require_same_training,
    training_record,
    write_record,
)
from warex.training.fine_tuning.result import TrainingProgress, TrainingResult
from warex.training.fine_tuning.trainable import (
    make_trainable,
    require_complete_model,
    with_lora_of,
)
from warex.training.model.loading import LoadedModel, load_model
from warex.training.model.memory import keep_freed_memory
from warex.training.model.openmp import shorten_openmp_spin
from warex.training.trl_data import (
    examples,
    for_chat_template,
    require_rows,
    require_two_kinds,
)

CHECKPOINTS: Final = "checkpoints"
METRICS: Final = "metrics.jsonl"
_DISK_FULL: Final = (
    "No space left", "PytorchStreamWriter failed", "unexpected pos", "Disk quota exceeded",
)  # fmt: skip
"""``unexpected pos``: torch wrote less of a file than was requested."""

_CHECKED: Final = 8
"""Examples whose answers are looked for behind their prompts, as a model's template writes them."""

type OnStep = Callable[[TrainingProgress], None]


def train(
    dataset: Dataset,
    model: str,
    out: Path,
    recipe: Hyperparameters,
    *,
    adapter: Path | None = None,
    resume: bool = False,
    one_sided: bool = False,
    is_right: IsRight | None = None,
    on_step: OnStep = lambda progress: None,
) -> TrainingResult:
    """Train a LoRA adapter, or all weights, on a data set and write it into a folder.

    ``adapter`` is one to continue from. ``is_right`` judges the answers by which the recipe's
    ``keep_best`` chooses; without it the loss chooses. Raises InputError if the data, the model or
    the recipe cannot be used, several cards are visible without a launcher, or the folder is not
    empty; MachineError if memory or disk space is insufficient.
    """
    require_rows(dataset)
    if not one_sided:
        require_two_kinds(dataset)
    require_complete_model(recipe, adapter)
    require_answers(recipe, dataset)
    kind = dataset.manifest.format
    for option in ("group_by_length", "packing"):
        if getattr(recipe, option) and kind != "sft":
            raise InputError(f"{flag(option)} goes with a data set of the format sft, not {kind}")
    recipe = applied_recipe(recipe, kind, adapter)
    require_launcher(visible_cards(), os.environ)
    shorten_openmp_spin()
    begun = read_record(out) if resume else None
    if begun is not None:
        require_same_training(out, begun, training_record(model, adapter, dataset, recipe))
        if recipe.at_once == "auto":
            recipe = recipe.model_copy(update={"at_once": begun.at_once})
    if not resume and is_first_process():
        require_empty_folder(out, "the adapter", "go on with what is there by --resume")
    last = last_checkpoint(out) if resume else None
    from jinja2 import TemplateError

    keep_freed_memory()
    loaded = load_model(model, precision=recipe.precision, qlora=recipe.qlora)
    make_trainable(loaded, adapter, recipe)

    def length(messages: Sequence[ChatMessage]) -> int:
        conversation = for_chat_template(messages)
        return len(
            loaded.tokenizer.apply_chat_template(conversation, tokenize=True, return_dict=False)
        )

    try:
        some, left_out = examples(dataset.splits.get("train", ()), length, recipe.max_length)
    except TemplateError as error:
        raise InputError(
            f"the chat template of {model} takes no such messages: {error}. Take another model, or"
            " export from an agent whose prompts it takes"
        ) from None
    if not some:
        raise InputError(
            f"{dataset.folder}: no row of train fits into {recipe.max_length} tokens: raise"
            " --max-length, or export with a smaller --largest"
        )
    for example in some[:_CHECKED]:
        require_answer_after_prompt(loaded.tokenizer, example)
    validation, _ = examples(dataset.splits.get("validation", ()), length, recipe.max_length)
    longest = max(length([*it["prompt"], *_answer(it)]) for it in some)
    size = at_once(loaded, recipe, longest, kind)
    recipe = recipe.model_copy(update={"at_once": size})
    from safetensors import SafetensorError

    out.mkdir(parents=True, exist_ok=True)
    try:
        write_record(out, training_record(model, adapter, dataset, recipe))
        trainer = _trainer(loaded, dataset, some, validation, out, recipe, is_right, on_step)
        trainer.train(resume_from_checkpoint=str(last) if last else None)
        trainer.save_model(str(out))
        loss, right = _of_best(trainer.state)
        trained = TrainingResult(
            folder=out,
            steps=trainer.state.global_step,
            examples=len(some),
            left_out=left_out,
            validation_loss=loss,
            right=right,
            at_once=size,
            resumed_at=int(last.name.rpartition("-")[2]) if last else 0,
        )
        if trainer.is_world_process_zero():
            card = model_card(model, dataset, recipe, trained)
            write_atomic(out / "README.md", escape_surrogates(card).encode())
    except BaseException as error:
        resumable = resume or last_checkpoint(out) is not None
        if not resumable and is_first_process():
            _remove_remains(out)
        if isinstance(error, OSError | RuntimeError | SafetensorError):
            raise _explained(error, out, resumable=resumable) from error
        raise
    return trained


def applied_recipe(recipe: Hyperparameters, kind: Format, adapter: Path | None) -> Hyperparameters:
    """Return a recipe as it is applied to data of a format and an adapter that is continued.

    Raises InputError if that is impossible.
    """
    recipe = divide_batch(recipe, kind, processes(os.environ))
    return recipe if adapter is None else with_lora_of(adapter, recipe)


def _remove_remains(out: Path) -> None:
    """Remove what a training without a checkpoint has written, so that it can be started again."""
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    for name in (RECIPE, METRICS):
        (out / name).unlink(missing_ok=True)


def is_first_process() -> bool:
    """Whether this is the only process of a training, or the first started by accelerate."""
    return os.environ.get("RANK", "0") == "0"


def last_checkpoint(out: Path) -> Path | None:
    """Return the last complete checkpoint, or None."""
    complete = filter(_is_complete, (out / CHECKPOINTS).glob("checkpoint-*"))
    return max(complete, key=lambda it: int(it.name.rpartition("-")[2]), default=None)


def _is_complete(folder: Path) -> bool:
    """Whether a checkpoint is complete: its state is written last."""
    from safetensors import SafetensorError, safe_open

    try:
        json.loads((folder / "trainer_state.json").read_bytes())
        files = _weights(folder)
        for file in files:
            with safe_open(file, "pt") as weights:
                if not weights.keys():
                    return False
        return bool(files) and (folder / "optimizer.pt").stat().st_size > 0
    except (OSError, ValueError, LookupError, SafetensorError):
        return False


def _weights(folder: Path) -> list[Path]:
    """Return the files of an adapter's weights or of a model's, which may be in several."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        return [
            folder / name for name in set(json.loads(index.read_bytes())["weight_map"].values())
        ]
    names = ("adapter_model.safetensors", "model.safetensors")
    return [folder / name for name in names if (folder / name).is_file()]


def _answer(example: Mapping[str, Any]) -> list[ChatMessage]:
    """Return an example's longest answer."""
    answers = [example[name] for name in ("completion", "chosen", "rejected") if name in example]
    return max(answers, key=lambda it: len(json.dumps(it)))


def _of_best(state: Any) -> tuple[float | None, float | None]:
    """Return the validation loss of the best epoch, and its score if answers choose it."""
    if state.best_metric is None:
        return None, None
    best = float(state.best_metric)
    if not any(RIGHT in it for it in state.log_history):
        return best, None
    losses = {it["step"]: it["eval_loss"] for it in state.log_history if "eval_loss" in it}
    return losses.get(state.best_global_step), best


def _trainer(
    loaded: LoadedModel,
    dataset: Dataset,
    some: list[dict[str, Any]],
    validation: list[dict[str, Any]],
    out: Path,
    recipe: Hyperparameters,
    is_right: IsRight | None,
    on_step: OnStep,
) -> Any:
    import trl
    from datasets import Dataset as Columns
    from datasets import disable_progress_bars
    from transformers import PrinterCallback

    disable_progress_bars()
    mask_prompt_loss(loaded.device)
    config, trainer = {
        "sft": (trl.SFTConfig, trl.SFTTrainer),
        "dpo": (trl.DPOConfig, trl.DPOTrainer),
        "kto": (trl.KTOConfig, trl.KTOTrainer),
    }[dataset.manifest.format]
    choices: dict[str, Any] = {"beta": recipe.beta}
    if dataset.manifest.format == "sft":
        choices = {"completion_only_loss": True, "packing": recipe.packing}
    if recipe.group_by_length:
        choices["train_sampling_strategy"] = "group_by_length"
    best = bool(validation)
    by_answers = recipe.keep_best == "recovery" and is_right is not None
    if is_right is not None and by_answers:
        trainer = scoring(trainer, loaded, dataset, is_right)
    arguments = config(
        output_dir=str(out / CHECKPOINTS),
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.at_once,
        per_device_eval_batch_size=recipe.at_once,
        gradient_accumulation_steps=recipe.accumulated(processes(os.environ)),
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        warmup_steps=recipe.warmup,
        max_grad_norm=recipe.grad_norm,
        max_length=recipe.max_length,
        gradient_checkpointing=recipe.gradient_checkpointing,
        # LoRA's weights are fp32, beside a base that has its precision; all weights are fp32, too,
        # so a card must be set to multiply them in bf16.
        bf16=recipe.full and recipe.precision != "fp32" and loaded.device != "cpu",
        fp16=False,
        use_cpu=loaded.device == "cpu",
        eval_strategy="epoch" if best else "no",
        save_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=best,
        metric_for_best_model=(RIGHT if by_answers else "eval_loss") if best else None,
        greater_is_better=by_answers,
        logging_steps=1,
        report_to=["tensorboard"],
        disable_tqdm=True,
        seed=recipe.seed,
        data_seed=recipe.seed,
        dataloader_pin_memory=loaded.device != "cpu",
        **choices,
    )
    try:
        made = trainer(
            model=loaded.model,
            args=arguments,
            train_dataset=Columns.from_list(some),
            eval_dataset=Columns.from_list(validation) if validation else None,
            processing_class=loaded.tokenizer,
            callbacks=[_callback(out / METRICS, on_step)],
        )
    except ValueError as error:
        raise InputError(f"TRL does not train so: {' '.join(str(error).split())[:300]}") from None
    made.remove_callback(PrinterCallback)
    return made


def _callback(path: Path, on_step: OnStep) -> Any:
    from transformers import TrainerCallback

    def report(state: Any, values: Mapping[str, float]) -> None:
        epoch = state.epoch or 0.0
        on_step(TrainingProgress(state.global_step, state.max_steps, epoch, values))

    class Metrics(TrainerCallback):  # type: ignore[misc]
        """Writes what TRL logs as JSON lines, and reports each step."""

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if state.is_world_process_zero:
                report(state, {})

        def on_log(self, args: Any, state: Any, control: Any, logs: Any, **more: Any) -> None:
            if not state.is_world_process_zero:
                return
            values = {k: float(v) for k, v in logs.items() if isinstance(v, int | float)}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"step": state.global_step, **values}) + "\n")
            report(state, values)

    return Metrics()


def _explained(error: Exception, out: Path, *, resumable: bool) -> MachineError:
    """Return a MachineError that explains a failed training."""
    text = " ".join(str(error).split())
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or any(words in text for words in _DISK_FULL):
        go_on = "Those before are kept: free some space and go on with --resume"
        return MachineError(
            f"{out}: the disk is full, so a checkpoint could not be written."
            f" {go_on if resumable else 'Free some space and start again'}"
        )
    if "out of memory" in text.lower():
        return MachineError(
            "the memory does not do: try --gradient-checkpointing, --qlora, a smaller --at-once or"
            " --max-length, or a smaller model"
        )
    go_on = "--resume goes on at the last checkpoint" if resumable else "No checkpoint was written"
    return MachineError(f"the training broke: {text[:300]}. {go_on}")
