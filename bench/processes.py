"""What the kernel says of a process (``/proc``, so Linux only)."""

import os
from pathlib import Path

KNOWN = Path("/proc/self/status").exists()
"""Whether this machine tells."""


def resident(pid: int, field: str) -> int:
    """Return bytes of resident memory: now (``VmRSS``) or at most so far (``VmHWM``)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise RuntimeError(f"/proc does not tell {field}")


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used; 0 where the machine does not tell."""
    if not KNOWN:
        return 0.0
    # The name, in brackets, may hold spaces. Behind it: utime is the 12th field, stime the 13th.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptors(pid: int) -> int:
    """Return how many file descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))
