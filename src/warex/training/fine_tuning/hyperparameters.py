"""How a model is trained; the paper's recipe as default (§4.2, failure-recovery training)."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

type Whole = Annotated[int, Field(ge=1)]


class Hyperparameters(BaseModel, frozen=True, extra="forbid"):
    """All that is chosen about a training."""

    rank: Whole = 8
    """Of LoRA's matrices."""
    alpha: Whole = 16
    """LoRA's scale is ``alpha / rank``."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    epochs: Annotated[float, Field(gt=0, le=1000)] = 4
    batch: Whole = 8
    """Examples for each update of the weights."""
    at_once: Whole = 1
    """Examples in memory at once; the rest of a batch is accumulated."""
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 1e-4
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    """``cosine``: half a cycle, from the learning rate to zero."""
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the steps in which the learning rate rises."""
    grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """Gradients are scaled down to this norm."""
    max_length: Annotated[int, Field(ge=32)] = 4096
    """Tokens of an example; a longer one is cut in its observation."""
    packing: bool = False
    """Several examples in one sequence."""
    gradient_checkpointing: bool = False
    """Less memory, for a third more time."""
    qlora: bool = False
    """Base weights in 4 bits (NVIDIA cards only)."""
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    """Of the base weights; ``auto``: bf16 where the machine computes in it. LoRA's are fp32."""
    beta: Annotated[float, Field(gt=0)] = 0.1
    """Of DPO and KTO: how far the model may go from its beginning."""
    seed: Annotated[int, Field(ge=0)] = 0

    def accumulated(self, processes: int = 1) -> int:
        """Return how many times ``at_once`` examples of each process make a batch; one at least."""
        return max(1, self.batch // (self.at_once * processes))
