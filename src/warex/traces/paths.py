"""The paths of a run's files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, unquote

from warex.errors import InputError, TraceError

MANIFEST = "manifest.json"
PRICES = "prices.json"
TRIALS = "trials"
EVENTS = "events.jsonl"
OUTCOME = "outcome.json"
BLOBS = "blobs"

NO_PROXY = "no-proxy"
"""The condition of trials without WAREX."""
CLEAN = "clean"
"""The condition of trials through the proxy without faults."""

# What common file systems allow for one name, in bytes.
_LONGEST = 255
# The escaped empty name; no other escaped name ends in "%".
_EMPTY = "%"


@dataclass(frozen=True, slots=True, order=True)
class TrialKey:
    """Identifies a trial of a campaign; names may contain any character."""

    benchmark: str
    agent: str
    condition: str
    task: str
    repeat: int = 1


def escape(name: str) -> str:
    """Return ``name`` as a folder's name: without separators, not hidden, not empty.

    Raises InputError if it is too long for the file system.
    """
    escaped = quote(name, safe="+=,@", errors="surrogatepass") or _EMPTY
    if escaped.startswith("."):
        escaped = "%2E" + escaped[1:]
    if len(escaped) > _LONGEST:
        raise InputError(
            f"The name {name[:40]!r}… needs {len(escaped)} bytes as a folder's name; at most "
            f"{_LONGEST} are allowed. Give it a shorter one."
        )
    return escaped


def unescape(name: str) -> str:
    """Reverse ``escape``. Raises ValueError if that did not make the name."""
    plain = "" if name == _EMPTY else unquote(name, errors="surrogatepass")
    if escape(plain) != name:
        raise ValueError(f"{name!r} is not an escaped name")
    return plain


def trial_dir(run: Path, key: TrialKey) -> Path:
    """Return the folder of a trial, which holds its attempts."""
    names = (escape(name) for name in (key.benchmark, key.agent, key.condition, key.task))
    return run.joinpath(TRIALS, *names, str(key.repeat))


def attempt_dir(run: Path, key: TrialKey, attempt: int) -> Path:
    """Return the folder of a trial's n-th attempt, from 1."""
    return trial_dir(run, key) / f"attempt-{attempt}"


def attempt_id(run: Path, attempt: Path) -> str:
    """Return a short name of an attempt, from its place in the run, by which links name it."""
    return sha256(attempt.relative_to(run).as_posix().encode()).hexdigest()[:12]


def _require_inside(run: Path, path: Path) -> None:
    """Raise TraceError for an attempt behind a symlink."""
    for part in (path, *path.parents):
        if part == run:
            return
        if part.is_symlink():
            raise TraceError(
                f"{part} is a link, to {os.readlink(part)}; a run holds its trials itself. Put the"
                " folder there, or take the link away."
            )


def find_trials(run: Path) -> Iterator[tuple[TrialKey, int, Path]]:
    """Yield each attempt on disk, finished or not, sorted: its key, its number, its folder.

    Folders with other names are ignored. Raises TraceError if there is no run, or a symlink in
    place of a folder.
    """
    if not run.is_dir():
        raise TraceError(f"{run} is not a folder, so there is no run to read.")
    found = []
    for path in (run / TRIALS).glob("*/*/*/*/*/attempt-*"):
        *names, repeat, attempt = path.relative_to(run / TRIALS).parts
        try:
            benchmark, agent, condition, task = map(unescape, names)
            key = TrialKey(benchmark, agent, condition, task, int(repeat))
            number = int(attempt.removeprefix("attempt-"))
        except (ValueError, InputError):
            continue
        if attempt_dir(run, key, number) == path:
            _require_inside(run, path)
            found.append((key, number, path))
    yield from sorted(found)
