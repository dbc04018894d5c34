"""Progress and result of a training."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


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
    """Contains the adapter, or the whole model."""
    steps: int
    examples: int
    left_out: int
    """Rows that do not fit into ``max_length``."""
    validation_loss: float | None
    """Of the best epoch; None without validation rows."""
    right: float | None = None
    """Of the best epoch, where answers choose it: the mean of the shares of failures recovered and
    of clean steps agreed with."""
    at_once: int = 1
    """Examples in memory at once."""
    resumed_at: int = 0
