"""How torch's threads wait for each other on a processor (OpenMP 5.2, section 21.8)."""

import os


def wait_passively() -> None:
    """Have threads sleep while they wait, unless ``OMP_WAIT_POLICY`` says otherwise.

    By default they spin. Alone that saves a little; beside another program that computes, each
    waits in vain for a thread that is not running, and both take many times as long. OpenMP reads
    the variable when torch is imported: call it before.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
