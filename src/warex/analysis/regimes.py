"""How an agent fails: at once and cheaply, or at length and dearly.

Source: the paper, appendix E.
"""

from dataclasses import dataclass
from typing import Literal

type RegimeName = Literal[
    "premature termination",
    "resource-intensive failure",
    "recovered at a cost",
    "unaffected",
    "unclear",
]


@dataclass(frozen=True, slots=True)
class Regime:
    """What a condition does to success and effort together."""

    name: RegimeName
    why: str
    """One sentence with the figures that decide."""
