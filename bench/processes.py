"""Memory, processor time and file descriptors of a process, from ``/proc`` (Linux only)."""

import os
from pathlib import Path

HAS_PROCFS = Path("/proc/self/status").exists()


def resident(pid: int, field: str) -> int:
    """Return bytes of resident memory: current (``VmRSS``) or peak (``VmHWM``)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise RuntimeError(f"/proc/{pid}/status has no field {field}")


def mapped(pid: int, *fields: str) -> int:
    """Return bytes of a process's mappings, the sum of fields of ``smaps_rollup`` (proc(5)).

    ``Pss`` counts a page that several processes share in equal parts; ``Private_Clean`` and
    ``Private_Dirty`` are those of this process alone.
    """
    values = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, value = line.partition(":")
        values[name] = int(value.split()[0]) * 1024
    return sum(values[name] for name in fields)


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used; 0 without ``/proc``."""
    if not HAS_PROCFS:
        return 0.0
    # The name, in parentheses, may contain spaces. After it, utime is field 12, stime field 13.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptors(pid: int) -> int:
    """Return how many file descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))
