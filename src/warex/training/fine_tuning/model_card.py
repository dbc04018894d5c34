"""The card of a trained adapter or model."""

import hashlib

from warex.exports.dataset import Dataset
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.fine_tuning.result import TrainingResult


def model_card(
    model: str, dataset: Dataset, recipe: Hyperparameters, trained: TrainingResult
) -> str:
    """Return the README.md of an adapter or of a model that was trained whole."""
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
    library, what = ("transformers", "Model") if recipe.full else ("peft", "Adapter")
    head = (
        f"---\nbase_model: {model}\nlibrary_name: {library}\n"
        "tags: [web-agents, failure-recovery]\n---"
    )
    named = f"{trained.folder}" if recipe.full else f"{model} --adapter {trained.folder}"
    return (
        f"{head}\n\n# {what} for web agents that recover\n\n| | |\n| --- | --- |\n{table}\n\n"
        f"`warex evaluate --data DATA --model {named}` tests it;"
        f" `warex serve --model {named}` serves it.\n"
    )
