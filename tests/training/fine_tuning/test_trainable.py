import json
from pathlib import Path
from typing import Any

import pytest

from warex.errors import InputError
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.fine_tuning.trainable import with_lora_of


def adapter(folder: Path, **changes: Any) -> Path:
    config = {
        "r": 24,
        "lora_alpha": 48,
        "lora_dropout": 0.1,
        "target_modules": ["v_proj", "q_proj"],
    }
    (folder / "adapter_config.json").write_text(json.dumps({**config, **changes}))
    (folder / "adapter_model.safetensors").touch()
    return folder


def test_the_recipe_is_of_the_adapter_that_is_continued(tmp_path: Path) -> None:
    continued = with_lora_of(adapter(tmp_path), Hyperparameters(rank=24, epochs=2))

    assert continued == Hyperparameters(
        rank=24, alpha=48, dropout=0.1, target="q_proj,v_proj", epochs=2
    )
    assert with_lora_of(tmp_path, continued) == continued


@pytest.mark.parametrize(
    ("wanted", "refusal"),
    [
        ({"rank": 8}, "--rank 8: the adapter .* has 24"),
        ({"dropout": 0.2}, "--dropout 0.2: the adapter .* has 0.1"),
        ({"target": "q_proj"}, "--target q_proj: the adapter .* has q_proj,v_proj"),
        ({"target": "all-linear"}, "--target all-linear: the adapter .* has q_proj,v_proj"),
    ],
    ids=lambda it: next(iter(it)) if isinstance(it, dict) else "",
)
def test_another_lora_than_the_adapters_is_refused(
    tmp_path: Path, wanted: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(InputError, match=f"^{refusal}$"):
        with_lora_of(adapter(tmp_path), Hyperparameters(**wanted))


def test_the_adapters_modules_are_named_in_any_order(tmp_path: Path) -> None:
    named = Hyperparameters(target="v_proj, q_proj")
    assert with_lora_of(adapter(tmp_path), named).target == "q_proj,v_proj"


@pytest.mark.parametrize("changes", [{"r": None}, {"target_modules": None}, {"lora_alpha": "x"}])
def test_an_adapter_of_another_kind_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"adapter_config\.json does not describe an adapter"):
        with_lora_of(adapter(tmp_path, **changes), Hyperparameters())
