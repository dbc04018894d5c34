"""python -m bench.training.one_training WITH DATA MODEL OUT RECIPE: measure one training.

WITH is ``warex`` or ``trl``: WAREX's training, or TRL's SFTTrainer as its documentation shows it,
on the same rows with the same hyperparameters. Prints the measurement as one line of JSON.
"""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from warex.exports.dataset import Dataset, read_dataset
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.fine_tuning.trainer import METRICS, train

_DTYPES: Final = {"bf16": "bfloat16", "fp32": "float32", "auto": "auto"}
_SAMPLE_SECONDS: Final = 0.5
"""Seconds between two samples of the GPU's utilisation."""


def main(how: str, data: str, model: str, out: str, recipe: str) -> None:
    """Train; print the seconds, the peak memory in bytes and the utilisation of GPU or CPU."""
    chosen, dataset = Hyperparameters.model_validate_json(recipe), read_dataset(Path(data))
    uses: list[float] = []
    stopped = threading.Event()
    watching = threading.Thread(target=_sample_use, args=(uses, stopped), daemon=True)
    watching.start()
    before, began = time.process_time(), time.monotonic()
    seconds = TRAINERS[how](dataset, model, Path(out), chosen)
    processors = (time.process_time() - before) / (time.monotonic() - began)
    stopped.set()
    watching.join()
    memory, use = _memory(), fmean(uses) if uses else processors / (os.cpu_count() or 1)
    print(json.dumps({"seconds": seconds, "memory": memory, "use": use}))


def _by_warex(dataset: Dataset, model: str, out: Path, recipe: Hyperparameters) -> float:
    train(dataset, model, out, recipe)
    lines = map(json.loads, (out / METRICS).read_text().splitlines())
    return float(next(line["train_runtime"] for line in lines if "train_runtime" in line))


def _by_trl(dataset: Dataset, model: str, out: Path, recipe: Hyperparameters) -> float:
    import torch
    from datasets import Dataset as Columns
    from peft import LoraConfig
    from trl import SFTConfig, SFTTrainer

    rows = [{"prompt": row.prompt, "completion": [row.answer]} for row in dataset.rows("train")]
    config = SFTConfig(
        output_dir=str(out),
        model_init_kwargs={"dtype": _DTYPES[recipe.precision]},
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.at_once,
        gradient_accumulation_steps=recipe.accumulated(),
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        max_grad_norm=recipe.grad_norm,
        max_length=recipe.max_length,
        gradient_checkpointing=recipe.gradient_checkpointing,
        bf16=torch.cuda.is_available(),
        use_cpu=not torch.cuda.is_available(),
        save_strategy="epoch",
        logging_steps=1,
        report_to=[],
    )
    lora = LoraConfig(
        r=recipe.rank, lora_alpha=recipe.alpha, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    trainer = SFTTrainer(
        model=model, args=config, train_dataset=Columns.from_list(rows), peft_config=lora
    )
    return float(trainer.train().metrics["train_runtime"])


TRAINERS: Final[Mapping[str, Callable[[Dataset, str, Path, Hyperparameters], float]]] = {
    "warex": _by_warex,
    "trl": _by_trl,
}


def _memory() -> int:
    import torch

    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    # Linux reports kilobytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _sample_use(uses: list[float], stopped: threading.Event) -> None:
    """Sample the GPU's utilisation, 0 to 1, while there is a GPU; skip samples of 0."""
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    while not stopped.wait(_SAMPLE_SECONDS):
        try:
            output: Any = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            use = float(output.split()[0]) / 100
        except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
            return
        if use:
            uses.append(use)


if __name__ == "__main__":
    main(*sys.argv[1:])
