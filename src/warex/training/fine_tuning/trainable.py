"""Makes a model's weights trainable: a LoRA adapter's, new or loaded, or all."""

import json
from pathlib import Path

from warex.errors import InputError
from warex.files.reading import read_regular_file
from warex.training.fine_tuning.hyperparameters import (
    ALL_LINEAR,
    LORA_FIELDS,
    Hyperparameters,
    flag,
)
from warex.training.model.loading import LoadedModel, require_adapter


def require_complete_model(recipe: Hyperparameters, adapter: Path | None) -> None:
    """Raise InputError if all weights cannot be trained as the recipe and an adapter ask for."""
    if recipe.full and adapter is not None:
        raise InputError(
            "--full trains all weights of the model, and --adapter one of its adapters"
        )
    if recipe.full and recipe.qlora:
        raise InputError("--full trains all weights, and those of --qlora, in 4 bits, cannot be")


def with_lora_of(adapter: Path, recipe: Hyperparameters) -> Hyperparameters:
    """Return a recipe with the LoRA of an adapter that is continued, which is what is trained.

    Raises InputError if the folder contains no adapter of LoRA, or the recipe names another rank,
    scale, dropout or modules.
    """
    require_adapter(adapter)
    file = adapter / "adapter_config.json"
    try:
        config = json.loads(read_regular_file(file))
        targets = config["target_modules"]
        lora = Hyperparameters(
            rank=config["r"],
            alpha=config["lora_alpha"],
            dropout=config["lora_dropout"],
            target=targets if isinstance(targets, str) else ",".join(sorted(targets)),
        )
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise InputError(f"{file} does not describe an adapter of LoRA") from None
    for name in sorted(LORA_FIELDS & recipe.model_fields_set):
        wanted, is_there = getattr(recipe, name), getattr(lora, name)
        if name == "target" and set(_modules(wanted)) == set(_modules(is_there)):
            continue
        if wanted != is_there:
            raise InputError(
                f"{flag(name)} {wanted}: the adapter {adapter} that is continued has {is_there}"
            )
    return recipe.model_copy(update=lora.model_dump(include=set(LORA_FIELDS)))


def make_trainable(loaded: LoadedModel, adapter: Path | None, recipe: Hyperparameters) -> None:
    """Have a model train all its weights, or those of an adapter, in fp32.

    Raises InputError if the adapter or a target does not fit the model.
    """
    import torch
    from peft import LoraConfig, PeftModel, get_peft_model, prepare_model_for_kbit_training
    from transformers import set_seed

    set_seed(recipe.seed)
    if recipe.qlora:
        loaded.model = prepare_model_for_kbit_training(
            loaded.model, use_gradient_checkpointing=recipe.gradient_checkpointing
        )
    if adapter is not None:
        try:
            loaded.model = PeftModel.from_pretrained(loaded.model, str(adapter), is_trainable=True)
        except (RuntimeError, ValueError, KeyError, OSError) as error:
            why = " ".join(str(error).split())[:300]
            raise InputError(f"{adapter} is not an adapter of {loaded.name}: {why}") from None
    elif not recipe.full:
        lora = LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=recipe.dropout,
            target_modules=target_modules(recipe.target),
            task_type="CAUSAL_LM",
        )
        try:
            loaded.model = get_peft_model(loaded.model, lora)
        except ValueError as error:
            raise InputError(
                f"--target {recipe.target}: {' '.join(str(error).split())[:200]}; {ALL_LINEAR} fits"
                " every model"
            ) from None
    for weights in loaded.model.parameters():
        if weights.requires_grad and weights.dtype != torch.float32:
            weights.data = weights.data.float()


def target_modules(target: str) -> str | list[str]:
    """Return a recipe's target as PEFT reads it: the word for all, or the modules' names."""
    return target if target == ALL_LINEAR else _modules(target)


def _modules(target: str) -> list[str]:
    return [it.strip() for it in target.split(",")]
