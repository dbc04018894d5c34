"""How long torch's threads wait for each other on a processor before they sleep."""

import os
from typing import Final

_SPINS: Final = "2000"
"""Turns of the loop in which a thread waits, some microseconds; the default is many more."""


def shorten_openmp_spin() -> None:
    """Have threads sleep soon while they wait, unless GNU OpenMP's own variables say otherwise.

    By default they spin for milliseconds. Beside another program that computes, each then waits in
    vain for a thread that is not running, and both take many times as long. The library reads the
    variable when torch is imported: call it before.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)
