"""Records the software and hardware of a run, for reproduction."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from warex.errors import MachineError

_CPUINFO = Path("/proc/cpuinfo")
_SECONDS = 30.0


def versions(chromium: Path, tasks: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return versions and other facts that may make trials differ, by name.

    ``tasks``: benchmark and task of each trial; runs with one digest have the same tasks. The
    commit is the working directory's; it is missing outside a repository, and ends in
    ``-dirty`` if files differ from it. Raises MachineError if the browser does not run.
    """
    commit = _commit()
    return {
        "warex": version("warex"),
        "python": platform.python_version(),
        "browser": _browser_version(chromium),
        "os": platform.platform(),
        "cpu": f"{os.cpu_count()} x {_processor()}",
        "tasks": tasks_digest(tasks),
        **({"commit": commit} if commit else {}),
    }


def tasks_digest(tasks: Iterable[tuple[str, str]]) -> str:
    """Return 16 hex digits that depend only on the set of tasks."""
    lines = "\n".join(sorted(f"{benchmark}/{task}" for benchmark, task in set(tasks)))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)


def _browser_version(chromium: Path) -> str:
    try:
        done = _run(chromium, "--version")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MachineError(
            f"the browser {chromium} does not say its version: {error}; set WAREX_CHROMIUM to"
            " one that runs"
        ) from None
    return done.stdout.strip() or str(chromium)


def _commit() -> str:
    try:
        done = _run("git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
