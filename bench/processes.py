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


def family(pid: int) -> set[int]:
    """Return a process and all that it has started, and they in turn, as far as they live."""
    found, new = set[int](), {pid}
    while new:
        found |= new
        new = {child for parent in new for child in _children(parent)} - found
    return found


def _children(pid: int) -> set[int]:
    try:
        lists = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return set()  # It has ended.
    return {int(child) for held in lists for child in held.split()}


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used; 0 where the machine does not tell."""
    if not KNOWN:
        return 0.0
    # The name, in brackets, may hold spaces. Behind it: utime is the 12th field, stime the 13th.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def threads_seconds(pid: int) -> float:
    """Return the same, to the nanosecond, of the threads that live (``sched-stats``)."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def descriptors(pid: int) -> int:
    """Return how many file descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def peak_resident_anew(pid: int) -> None:
    """Have ``VmHWM`` begin anew at what is resident now (``clear_refs`` in the kernel's docs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
