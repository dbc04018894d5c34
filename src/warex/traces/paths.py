"""The paths of a run's files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
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
AGENT_LOG = "agent.log"
"""What the agent's command printed."""

NO_PROXY = "no-proxy"
"""The condition of trials without WAREX."""
CLEAN = "clean"
"""The condition of trials through the proxy without faults."""

# What common file systems allow for one name, in bytes.
_LONGEST = 255
_LEVELS = ("benchmark", "agent", "condition", "task", "repeat", "attempt")
"""What the folders below ``TRIALS`` stand for."""
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


def attempt_numbers(run: Path, key: TrialKey) -> list[int]:
    """Return the numbers of a trial's attempts on disk, in order.

    One may be missing: the number of an attempt that was lost with its machine is not used again.
    """
    try:
        names = [path.name for path in trial_dir(run, key).iterdir()]
    except OSError:
        return []
    numbers = (name.removeprefix("attempt-") for name in names)
    read = (int(number) for number in numbers if number.isascii() and number.isdigit())
    return sorted(number for number in read if f"attempt-{number}" in names)


def attempt_id(run: Path, attempt: Path) -> str:
    """Return a short name of an attempt, from its place in the run, by which links name it."""
    return place_id(attempt.as_posix().removeprefix(f"{run.as_posix()}/"))


def place_id(place: str) -> str:
    """Return the short name of the attempt at a path within its run."""
    return sha256(place.encode(errors="surrogateescape")).hexdigest()[:12]


def find_trials(run: Path) -> Iterator[tuple[TrialKey, int, Path]]:
    """Yield each attempt on disk, finished or not, sorted: its key, its number, its folder.

    Folders with other names are ignored. Raises TraceError if there is no run, or a symlink in
    place of a folder.
    """
    for key, number, folder in find_attempts(run):
        yield key, number, Path(folder)


def find_attempts(run: Path) -> Iterator[tuple[TrialKey, int, str]]:
    """Yield what ``find_trials`` does, the folders as text: a run may have ten thousand."""
    if not run.is_dir():
        raise TraceError(f"{run} is not a folder, so there is no run to read.")
    names_of = lru_cache(maxsize=None)(unescape)
    attempts = []
    for names, path, link in _folders(run / TRIALS):
        *parts, repeat, attempt = names
        try:
            benchmark, agent, condition, task = map(names_of, parts)
            identity = benchmark, agent, condition, task, int(repeat)
            number = int(attempt.removeprefix("attempt-"))
        except (ValueError, InputError):
            continue
        if (repeat, attempt) != (str(identity[-1]), f"attempt-{number}"):
            continue
        if link:
            raise TraceError(
                f"{link} is a link, to {os.readlink(link)}; a run holds its trials itself. Put the"
                " folder there, or take the link away."
            )
        attempts.append((identity, number, path))
    for identity, number, path in sorted(attempts):
        yield TrialKey(*identity), number, path


def _folders(trials: Path) -> list[tuple[tuple[str, ...], str, str]]:
    """Return what may be attempts: the names in its path, the path, the first symlink in it."""
    level: list[tuple[tuple[str, ...], str, str]] = [
        ((), str(trials), str(trials) if trials.is_symlink() else "")
    ]
    for _ in _LEVELS:
        level = [
            ((*names, entry.name), entry.path, link or (entry.path if entry.is_symlink() else ""))
            for names, path, link in level
            for entry in _entries(path)
        ]
    return level


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder; nothing if it is not a folder, or cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
