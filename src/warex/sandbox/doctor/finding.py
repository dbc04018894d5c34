"""What came of trying whether this machine can do a thing."""

from dataclasses import dataclass
from typing import Literal

type FindingState = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of trying one thing."""

    name: str
    state: FindingState
    sentence: str
    """What was found; where it is not ok, how to mend it."""
    needed: bool = True
    """Whether ``warex demo`` needs it."""
