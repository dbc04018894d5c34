"""Training hyperparameters; the defaults are the paper's (§4.2, failure-recovery training)."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, Field

from warex.text.escaping import escape_surrogates

type Name = Annotated[str, AfterValidator(escape_surrogates)]
"""A name that can be written; a byte that is not UTF-8 is escaped."""
type Whole = Annotated[int, Field(ge=1)]

ALL_LINEAR: Final = "all-linear"
"""PEFT's word for all linear modules but the last."""

LORA_FIELDS: Final = frozenset(("rank", "alpha", "dropout", "target"))
"""The hyperparameters that an adapter has."""


class Hyperparameters(BaseModel, frozen=True, extra="forbid"):
    """Hyperparameters of one training."""

    full: bool = False
    """Whether all weights are trained, in place of an adapter's."""
    target: Annotated[Name, Field(min_length=1)] = ALL_LINEAR
    """The modules that LoRA adapts: their names with commas between."""
    rank: Whole = 8
    """Of LoRA's matrices."""
    alpha: Whole = 16
    """LoRA's scale is ``alpha / rank``."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    epochs: Annotated[float, Field(gt=0, le=1000)] = 4
    batch: Whole = 8
    """Examples per update of the weights."""
    at_once: Whole | Literal["auto"] = 1
    """Examples in memory at once, a part that divides the batch evenly; the rest is accumulated.
    ``auto``: as many as fit. KTO takes at least 2."""
    group_by_length: bool = False
    """Examples of like length in one batch: less padding, but an update sees fewer kinds of them,
    as failed pages are short."""
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 1e-4
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    """``cosine``: half a cycle, from the learning rate to zero."""
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the steps during which the learning rate rises."""
    grad_norm: Annotated[float, Field(gt=0)] = 1.0
    max_length: Annotated[int, Field(ge=32)] = 4096
    """Tokens of an example; a longer one is cut at the end of its page."""
    packing: bool = False
    """Several examples in one sequence."""
    gradient_checkpointing: bool = False
    """Less memory, for a third more time."""
    qlora: bool = False
    """Base weights in 4 bits (NVIDIA cards only)."""
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    """Precision of the base weights; ``auto``: bf16 if the machine supports it. LoRA's are fp32."""
    keep_best: Literal["loss", "recovery"] = "loss"
    """By what the best epoch is chosen: the validation loss, or the answers to validation rows."""
    beta: Annotated[float, Field(gt=0)] = 0.1
    """Of DPO and KTO: how far the model may move from its start."""
    seed: Annotated[int, Field(ge=0)] = 0

    def accumulated(self, processes: int = 1) -> int:
        """Return how many times ``at_once`` examples per process, which divide it, make a batch."""
        at_once = 1 if self.at_once == "auto" else self.at_once
        return self.batch // (at_once * processes)


def flag(field: str) -> str:
    """Return the command line's option of a hyperparameter."""
    return f"--{field.replace('_', '-')}"
