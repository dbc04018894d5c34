"""Makes a model's weights trainable: a LoRA adapter's, new or loaded, or all."""

from pathlib import Path

from warex.errors import InputError
from warex.training.fine_tuning.hyperparameters import ALL_LINEAR, Hyperparameters
from warex.training.model.loading import LoadedModel, require_adapter


def require_complete_model(recipe: Hyperparameters, adapter: Path | None) -> None:
    """Raise InputError if all weights cannot be trained as the recipe and an adapter ask for."""
    if recipe.full and adapter is not None:
        raise InputError(
            "--full trains all weights of the model, and --adapter one of its adapters"
        )
    if recipe.full and recipe.qlora:
        raise InputError("--full trains all weights, and those of --qlora, in 4 bits, cannot be")


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
        require_adapter(adapter)
        loaded.model = PeftModel.from_pretrained(loaded.model, str(adapter), is_trainable=True)
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
    return target if target == ALL_LINEAR else [it.strip() for it in target.split(",")]
