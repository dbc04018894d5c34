"""Loads a language model and its tokenizer from a folder, a hub or a GGUF file, with LoRA adapters.

torch and transformers belong to the extra ``train`` and are imported when a model is loaded.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from warex.errors import InputError, MachineError
from warex.extras import require_extra
from warex.training.model.memory import bytes_of_a_weight, require_memory
from warex.training.model.openmp import shorten_openmp_spin

type Precision = Literal["auto", "bf16", "fp32"]

GGUF: Final = ".gguf"
WEIGHTS: Final = ("adapter_model.safetensors", "adapter_model.bin")


@dataclass(slots=True)
class LoadedModel:
    """A model that can answer or be trained."""

    model: Any
    """transformers' causal language model, or PEFT's wrapper of it."""
    tokenizer: Any
    device: str
    name: str
    adapters: list[str] = field(default_factory=list)

    def add_adapter(self, folder: Path) -> str:
        """Load another LoRA adapter and return its name. Raises InputError if it does not fit."""
        require_adapter(folder)
        from peft import PeftModel

        name = f"adapter-{len(self.adapters) + 1}"
        try:
            if self.adapters:
                self.model.load_adapter(str(folder), adapter_name=name)
            else:
                self.model = PeftModel.from_pretrained(self.model, str(folder), adapter_name=name)
        except (RuntimeError, ValueError, KeyError, OSError) as error:
            raise InputError(
                f"{folder} is not an adapter of {self.name}: {_brief(error)}"
            ) from None
        self.model.eval()
        self.adapters.append(name)
        return name

    def merge_adapter(self) -> None:
        """Merge the only adapter into the weights."""
        self.model = self.model.merge_and_unload()
        self.adapters.clear()

    @contextmanager
    def using(self, adapter: str | None) -> Iterator[Any]:
        """Yield the model with one of its adapters, or with none."""
        if adapter is not None:
            self.model.set_adapter(adapter)
            yield self.model
        elif self.adapters:
            with self.model.disable_adapter():
                yield self.model
        else:
            yield self.model


def require_packages() -> None:
    """Raise MachineError if packages of the extra ``train`` are missing."""
    packages = ("torch", "transformers", "peft", "trl", "tensorboard", "uvicorn")
    require_extra("train", "a model on this machine", *packages)


def require_adapter(folder: Path) -> None:
    """Raise InputError if a folder contains no LoRA adapter."""
    if not (folder / "adapter_config.json").is_file():
        raise InputError(f"{folder} holds no adapter: it has no adapter_config.json")
    if not any((folder / name).is_file() for name in WEIGHTS):
        raise InputError(f"{folder} holds no whole adapter: it has none of {', '.join(WEIGHTS)}")


def load_model(
    name: str,
    adapter: Path | None = None,
    *,
    precision: Precision = "auto",
    device: str = "auto",
    qlora: bool = False,
) -> LoadedModel:
    """Load a model by its folder, its name on a hub, or the path of its GGUF file.

    Raises InputError if it does not exist, has an unknown architecture or no chat template;
    MachineError if the extra is missing or memory is insufficient.
    """
    require_packages()
    if adapter is not None:
        require_adapter(adapter)
    shorten_openmp_spin()
    _be_quiet()
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    folder, more = _source(name)
    where = _device(device)
    bf16 = _in_bf16(precision, where)
    options: dict[str, Any] = {"dtype": torch.bfloat16 if bf16 else torch.float32}
    if qlora:
        options |= {"quantization_config": _four_bits(where), "device_map": {"": where}}
    try:
        config = AutoConfig.from_pretrained(folder, **more)
        require_memory(name, config, bytes_of_a_weight(bf16=bf16, qlora=qlora), where)
        tokenizer = AutoTokenizer.from_pretrained(folder, **more)
        if not tokenizer.chat_template:
            raise InputError(
                f"{name} has no chat template, so messages cannot be written for it: take its"
                " instruct or chat version"
            )
        model = AutoModelForCausalLM.from_pretrained(folder, **more, **options)
    except torch.cuda.OutOfMemoryError:
        raise MachineError(
            f"{name} does not fit into the card's memory: try --qlora, or a smaller model"
        ) from None
    except struct.error:
        raise InputError(f"{name} cannot be loaded: the file is cut short") from None
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise InputError(f"{name} cannot be loaded: {_explain_failure(name, error)}") from None
    if more:
        _unquantized(model)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if not qlora:
        model.to(where)
    model.eval()
    loaded = LoadedModel(model, tokenizer, where, name)
    if adapter is not None:
        loaded.add_adapter(adapter)
    return loaded


def _source(name: str) -> tuple[str, dict[str, str]]:
    """Return what transformers loads a model from, and the file name of a GGUF."""
    path = Path(name)
    if name.endswith(GGUF):
        if not path.is_file():
            raise InputError(f"{name} is not a file")
        return str(path.parent), {"gguf_file": path.name}
    if path.is_dir():
        if not (path / "config.json").is_file():
            files = sorted(path.glob(f"*{GGUF}"))
            hint = f"; did you mean {files[0]}?" if files else ""
            raise InputError(f"{name} holds no model: it has no config.json{hint}")
        return name, {}
    if path.is_absolute() or name.startswith("."):
        raise InputError(f"{name} is not a folder")
    return name, {}


def _explain_failure(name: str, error: Exception) -> str:
    text = _brief(error)
    if "not supported yet" in text and name.endswith(GGUF):
        return f"its architecture is not one that transformers reads from GGUF ({text})"
    if "cannot reshape" in text and name.endswith(GGUF):
        return f"the file is cut short or damaged ({text})"
    offline = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE")
    if not Path(name).exists() and isinstance(error, OSError):
        why = "the hub is not asked (HF_HUB_OFFLINE is set)" if offline else "the hub has it not"
        return (
            f"it is not a folder of this machine, not in the cache, and {why} or cannot be reached."
            " Name a folder, or download it first: hf download NAME"
        )
    return text


def _device(wanted: str) -> str:
    import torch

    if wanted != "auto":
        return wanted
    # accelerate starts a process per card and sets its number.
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu"


def _in_bf16(precision: Precision, device: str) -> bool:
    """Whether to load weights in bf16: by default if the machine computes in it."""
    import torch

    if precision != "auto":
        return precision == "bf16"
    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _four_bits(device: str) -> Any:
    if not device.startswith("cuda"):
        raise MachineError("--qlora needs an NVIDIA card, and there is none")
    from importlib.util import find_spec

    if find_spec("bitsandbytes") is None:
        raise MachineError("--qlora needs bitsandbytes: pip install bitsandbytes")
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
    )


def _unquantized(model: Any) -> None:
    """Remove the marks of quantization: transformers loads a GGUF's weights as floats."""
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config


def _be_quiet() -> None:
    """Keep transformers from printing."""
    import warnings

    # tqdm reads its variable once, when transformers imports it.
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    warnings.filterwarnings("ignore", module=r"(transformers|peft|trl|torch|accelerate)\b")


def _brief(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}…"
