"""Supervised fine-tuning and preference training by TRL, with LoRA (paper §4.2).

WAREX supplies the data, the hyperparameters, and the resumption of an interrupted training.
"""

import errno
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from warex.errors import InputError, MachineError
from warex.exports.dataset import Dataset, require_empty_folder
from warex.exports.names import Format
from warex.exports.rows import ChatMessage
from warex.traces.files import write_atomic
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.fine_tuning.loss_mask import mask_prompt_loss
from warex.training.model.loading import LoadedModel, load_model, require_adapter
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
RECIPE: Final = "recipe.json"
_DISK_FULL: Final = (
    "No space left", "PytorchStreamWriter failed", "unexpected pos", "Disk quota exceeded",
)  # fmt: skip
"""``unexpected pos``: torch wrote less of a file than was requested."""

type OnStep = Callable[["TrainingProgress"], None]


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Progress of a training."""

    step: int
    steps: int
    epoch: float
    values: Mapping[str, float]
    """As TRL logs them: ``loss``, ``eval_loss``, ``learning_rate`` …; empty for a plain step."""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """Result of a training."""

    folder: Path
    """Contains the adapter."""
    steps: int
    examples: int
    left_out: int
    """Rows that do not fit into ``max_length``."""
    validation_loss: float | None
    """Of the best epoch; None without validation rows."""
    resumed_at: int = 0


def train(
    dataset: Dataset,
    model: str,
    out: Path,
    recipe: Hyperparameters,
    *,
    adapter: Path | None = None,
    resume: bool = False,
    one_sided: bool = False,
    on_step: OnStep = lambda progress: None,
) -> TrainingResult:
    """Train a LoRA adapter on a data set and write it into a folder.

    ``adapter`` is one to continue from. Raises InputError if the data or the model cannot be used
    or the folder is not empty, MachineError if memory or disk space is insufficient.
    """
    require_rows(dataset)
    if not one_sided:
        require_two_kinds(dataset)
    shorten_openmp_spin()
    last = last_checkpoint(out) if resume else None
    if not resume and is_first_process():
        require_empty_folder(out, "the adapter", "go on with what is there by --resume")
    keep_freed_memory()
    loaded = load_model(model, precision=recipe.precision, qlora=recipe.qlora)
    _with_adapter(loaded, adapter, recipe)

    def length(messages: Sequence[ChatMessage]) -> int:
        whole = for_chat_template(messages)
        return len(loaded.tokenizer.apply_chat_template(whole, tokenize=True, return_dict=False))

    some, left_out = examples(dataset.splits.get("train", ()), length, recipe.max_length)
    if not some:
        raise InputError(
            f"{dataset.folder}: no row of train fits into {recipe.max_length} tokens: raise"
            " --max-length, or export with a smaller --largest"
        )
    validation, _ = examples(dataset.splits.get("validation", ()), length, recipe.max_length)
    from safetensors import SafetensorError

    out.mkdir(parents=True, exist_ok=True)
    try:
        written = json.dumps({"model": model, **recipe.model_dump()}, indent=2)
        write_atomic(out / RECIPE, f"{written}\n".encode())
        trainer = _trainer(loaded, dataset.manifest.format, some, validation, out, recipe, on_step)
        trainer.train(resume_from_checkpoint=str(last) if last else None)
        trainer.save_model(str(out))
        best = trainer.state.best_metric
        trained = TrainingResult(
            folder=out,
            steps=trainer.state.global_step,
            examples=len(some),
            left_out=left_out,
            validation_loss=float(best) if best is not None else None,
            resumed_at=int(last.name.rpartition("-")[2]) if last else 0,
        )
        if trainer.is_world_process_zero():
            write_atomic(out / "README.md", _card(model, dataset, recipe, trained).encode())
    except (OSError, RuntimeError, SafetensorError) as error:
        raise _explained(error, out) from error
    return trained


def is_first_process() -> bool:
    """Whether this is the only process of a training, or the first started by accelerate."""
    return os.environ.get("RANK", "0") == "0"


def last_checkpoint(out: Path) -> Path | None:
    """Return the last complete checkpoint, or None."""
    whole = filter(_is_whole, (out / CHECKPOINTS).glob("checkpoint-*"))
    return max(whole, key=lambda it: int(it.name.rpartition("-")[2]), default=None)


def _is_whole(folder: Path) -> bool:
    """Whether a checkpoint is complete: its state is written last."""
    from safetensors import SafetensorError, safe_open

    try:
        json.loads((folder / "trainer_state.json").read_bytes())
        with safe_open(folder / "adapter_model.safetensors", "pt") as weights:
            return bool(weights.keys()) and (folder / "optimizer.pt").stat().st_size > 0
    except (OSError, ValueError, SafetensorError):
        return False


def _with_adapter(loaded: LoadedModel, adapter: Path | None, recipe: Hyperparameters) -> None:
    """Add a trainable LoRA adapter to the model, new or loaded."""
    import torch
    from peft import LoraConfig, PeftModel, get_peft_model, prepare_model_for_kbit_training
    from transformers import set_seed

    set_seed(recipe.seed)
    if recipe.qlora:
        loaded.model = prepare_model_for_kbit_training(
            loaded.model, use_gradient_checkpointing=recipe.gradient_checkpointing
        )
    if adapter is not None:
        require_adapter(adapter)
        loaded.model = PeftModel.from_pretrained(loaded.model, str(adapter), is_trainable=True)
    else:
        lora = LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=recipe.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        loaded.model = get_peft_model(loaded.model, lora)
    for weights in loaded.model.parameters():
        if weights.requires_grad and weights.dtype != torch.float32:
            weights.data = weights.data.float()


def _trainer(
    loaded: LoadedModel,
    kind: Format,
    some: list[dict[str, Any]],
    validation: list[dict[str, Any]],
    out: Path,
    recipe: Hyperparameters,
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
    }[kind]
    choices: dict[str, Any] = {"beta": recipe.beta}
    if kind == "sft":
        choices = {"completion_only_loss": True, "packing": recipe.packing}
    best = bool(validation)
    arguments = config(
        output_dir=str(out / CHECKPOINTS),
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.at_once,
        per_device_eval_batch_size=recipe.at_once,
        gradient_accumulation_steps=recipe.accumulated(int(os.environ.get("WORLD_SIZE", "1"))),
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        warmup_steps=recipe.warmup,
        max_grad_norm=recipe.grad_norm,
        max_length=recipe.max_length,
        gradient_checkpointing=recipe.gradient_checkpointing,
        # The base weights already have their precision, and LoRA's are fp32.
        bf16=False,
        fp16=False,
        use_cpu=loaded.device == "cpu",
        eval_strategy="epoch" if best else "no",
        save_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=best,
        metric_for_best_model="eval_loss" if best else None,
        logging_steps=1,
        report_to=["tensorboard"],
        disable_tqdm=True,
        seed=recipe.seed,
        data_seed=recipe.seed,
        dataloader_pin_memory=loaded.device != "cpu",
        **choices,
    )
    made = trainer(
        model=loaded.model,
        args=arguments,
        train_dataset=Columns.from_list(some),
        eval_dataset=Columns.from_list(validation) if validation else None,
        processing_class=loaded.tokenizer,
        callbacks=[_callback(out / METRICS, on_step)],
    )
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


def _explained(error: Exception, out: Path) -> MachineError:
    """Return a MachineError that explains a failed training."""
    text = " ".join(str(error).split())
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or any(words in text for words in _DISK_FULL):
        return MachineError(
            f"{out}: the disk is full, so a checkpoint could not be written. Those before are kept:"
            " free some space and go on with --resume"
        )
    if "out of memory" in text.lower():
        return MachineError(
            "the memory does not do: try --gradient-checkpointing, --qlora, a smaller --at-once or"
            " --max-length, or a smaller model"
        )
    return MachineError(
        f"the training broke: {text[:300]}. --resume goes on at the last checkpoint"
    )


def _card(model: str, dataset: Dataset, recipe: Hyperparameters, trained: TrainingResult) -> str:
    manifest = dataset.manifest
    validated = "none" if trained.validation_loss is None else f"{trained.validation_loss:.4f}"
    digest = manifest.splits["train"].sha256
    rows = {
        "base model": model,
        "data set": f"{dataset.folder.name}, {manifest.format}; train.jsonl has SHA-256 `{digest}`",
        "examples": f"{trained.examples}, {trained.left_out} left out since they were too long",
        "recipe": ", ".join(f"{name} {value}" for name, value in recipe.model_dump().items()),
        "steps": str(trained.steps),
        "validation loss of the best epoch": validated,
        "recipe's digest": hashlib.sha256(recipe.model_dump_json().encode()).hexdigest()[:16],
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    head = (
        f"---\nbase_model: {model}\nlibrary_name: peft\ntags: [web-agents, failure-recovery]\n---"
    )
    return (
        f"{head}\n\n# Adapter for web agents that recover\n\n| | |\n| --- | --- |\n{table}\n\n"
        f"`warex evaluate --data DATA --model {model} --adapter {trained.folder}` tests it;"
        f" `warex serve --model {model} --adapter {trained.folder}` serves it.\n"
    )
