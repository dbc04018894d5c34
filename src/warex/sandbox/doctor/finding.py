"""The result of one check of this machine."""

from dataclasses import dataclass
from typing import Literal

type FindingState = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    state: FindingState
    sentence: str
    """What was found and, unless it is ok, the remedy."""
    needed: bool = True
    """Whether ``warex demo`` needs it."""
