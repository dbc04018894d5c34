"""How long torch's threads spin on a CPU before they sleep."""

import os
from typing import Final

_SPINS: Final = "2000"
"""Iterations of the waiting loop, some microseconds; the default is far more."""


def shorten_openmp_spin() -> None:
    """Have waiting threads sleep soon, unless GNU OpenMP's own variables are set.

    By default they spin for milliseconds. Beside another busy program, each then waits for a thread
    that is not running, and both take many times as long. Call this before torch is imported, when
    the library reads the variable.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)
