"""The faults: one file for each, named like its ``kind``, in the folder of its group.

To add a fault, write its file, its test, and its line and section in docs/reference/faults.md.
tests/faults/test_catalogue.py reports what is missing. Other distributions add faults by entry
points: docs/how-to/add-by-a-package.md.
"""

from typing import TYPE_CHECKING

from warex.faults.base import (
    ConnectionFault,
    ConnectionPhase,
    EffectsAndState,
    ErrorStatus,
    Fault,
    FaultState,
    HeldFault,
    PageFault,
    Seconds,
    Stage,
    Target,
)
from warex.faults.catalogue import (
    AnyFault,
    built_in_faults,
    catalogue,
    fault_named,
    kind_of,
)

__all__ = [
    "CATALOGUE",
    "AnyFault",
    "ConnectionFault",
    "ConnectionPhase",
    "EffectsAndState",
    "ErrorStatus",
    "Fault",
    "FaultState",
    "HeldFault",
    "PageFault",
    "Seconds",
    "Stage",
    "Target",
    "fault_named",
    "kind_of",
]

if TYPE_CHECKING:
    CATALOGUE: tuple[type[Fault], ...]
    """Every fault, in alphabetical order; the first use imports all of them."""
else:

    def __getattr__(name: str) -> object:
        """Return the catalogue, or one of WAREX's faults by its class; both import all faults."""
        if name == "CATALOGUE":
            return catalogue()
        # All others, such as those that the import system asks for, load nothing.
        for fault in built_in_faults() if name[:1].isupper() else ():
            if fault.__name__ == name:
                return fault
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
