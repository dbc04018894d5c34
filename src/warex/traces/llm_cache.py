"""Answers of models, kept in a run's folder so that the same question is not paid for twice.

One agent, task and repeat share answers, whatever the condition. What a trial's model answers lies
in its attempt's folder first and is shared once the trial counts: a void one is run again, and is
not to meet the very answers that may have broken it. A file is called by a keyed hash of the
question and by which asking of it this was; questions and headers of requests are not kept.
"""

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from warex.errors import TraceError
from warex.files.private import make_private_dir
from warex.files.reading import read_regular_file
from warex.traces.files import write_atomic, write_error
from warex.traces.paths import TrialKey, escape

LLM_CACHE: Final = "llm-cache"
"""A run's folder of shared answers."""
OWN_ANSWERS: Final = "llm-answers"
"""An attempt's folder of what its model answered, until the attempt is over."""
_SECRET: Final = ".secret"
"""No agent's folder: an escaped name never begins with a dot."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A complete answer of status 200."""

    headers: tuple[tuple[str, str], ...]
    """Those that say how to read it."""
    body: bytes
    """As sent: compressed, where it was."""
    latency_s: float
    """Seconds that it took when the model gave it."""

    def to_bytes(self) -> bytes:
        """Return the file's content: a line of JSON, then the body."""
        head = {"schema_version": 1, "latency_s": self.latency_s, "headers": self.headers}
        return json.dumps(head).encode() + b"\n" + self.body

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read a file's content. Raises ValueError where it is none."""
        line, mark, body = content.partition(b"\n")
        try:
            head = json.loads(line)
            if not mark or head["schema_version"] != 1:
                raise ValueError("no head of version 1")
            headers = tuple((str(name), str(value)) for name, value in head["headers"])
            return cls(headers, body, float(head["latency_s"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"no head: {error}") from None


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """One asking of one question within a trial."""

    key: str
    """Hex of the question's keyed hash."""
    nth: int
    """Which asking of the question this is, from 1, of those that get an answer."""

    @property
    def file(self) -> str:
        """The name of the file of its answer."""
        return f"{self.key}-{self.nth}"


@dataclass(slots=True)
class LlmCache:
    """The answers that one attempt may be given again, and those that it adds."""

    shared: Path
    own: Path
    secret: bytes = field(repr=False)
    _asked: dict[str, set[int]] = field(default_factory=dict)

    def ask(self, method: str, url: str, body: bytes) -> CacheLookup:
        """Number an asking; ``body`` as the model is sent it, before anything is redacted."""
        question = f"{method} {url}\n".encode() + body
        key = hmac.new(self.secret, question, hashlib.sha256).hexdigest()
        taken = self._asked.setdefault(key, set())
        nth = next(number for number in range(1, len(taken) + 2) if number not in taken)
        taken.add(nth)
        return CacheLookup(key, nth)

    def earlier(self, asking: CacheLookup) -> CachedAnswer | None:
        """Return what an earlier trial was answered at the same asking, or None.

        Raises TraceError for a file that is damaged.
        """
        path = self.shared / asking.file
        try:
            return CachedAnswer.from_bytes(read_regular_file(path, follow=False))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TraceError(f"{path} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            raise TraceError(f"{path} is no kept answer ({error}); delete it.") from None

    def keep(self, asking: CacheLookup, answer: CachedAnswer) -> None:
        """Keep a complete answer for other trials. Raises MachineError where the disk refuses."""
        try:
            make_private_dir(self.own)
        except OSError as error:
            raise write_error(self.own, error) from None
        write_atomic(self.own / asking.file, answer.to_bytes())

    def give_up(self, asking: CacheLookup) -> None:
        """Note that no answer came: the next asking of the question is this one again."""
        self._asked[asking.key].discard(asking.nth)


def begin_llm_cache(run: Path, secret_of_run: bytes | None = None) -> Path:
    """Make a run's cache with a secret of its own, or find it; return its folder.

    ``secret_of_run`` is that of a run on another machine, part of which is worked on here.
    Raises MachineError where it cannot be written.
    """
    folder = run / LLM_CACHE
    secret, draft = folder / _SECRET, folder / f"{_SECRET}.new"
    try:
        make_private_dir(folder)
        if not secret.exists():
            draft.unlink(missing_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(secret_of_run or secrets.token_bytes(32))
            draft.replace(secret)
    except OSError as error:
        raise write_error(folder, error) from None
    return folder


def shared_answers_dir(cache: Path, key: TrialKey) -> Path:
    """Return the folder of the answers that a trial shares with its like in other conditions."""
    return cache / escape(key.agent) / escape(key.task) / str(key.repeat)


def open_llm_cache(cache: Path, shared: Path, attempt: Path) -> LlmCache:
    """Open a run's cache for one attempt. Raises TraceError where its secret cannot be read."""
    return LlmCache(shared, attempt / OWN_ANSWERS, llm_cache_secret(cache))


def llm_cache_secret(cache: Path) -> bytes:
    """Return what a run's questions are hashed with. Raises TraceError where it cannot be read."""
    path = cache / _SECRET
    try:
        return read_regular_file(path, follow=False)
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}.") from None


def publish_answers(attempt: Path, shared: Path) -> None:
    """Let other trials have what an attempt was answered; what is shared already stays.

    Raises MachineError where the disk refuses.
    """
    own = attempt / OWN_ANSWERS
    if not own.is_dir():
        return
    try:
        make_private_dir(shared)
        for path in sorted(own.iterdir()):
            there = shared / path.name
            if there.exists():
                path.unlink()
            else:
                path.replace(there)
        own.rmdir()
    except OSError as error:
        raise write_error(shared, error) from None


def discard_answers(attempt: Path) -> None:
    """Delete what a void attempt was answered."""
    own = attempt / OWN_ANSWERS
    for path in own.iterdir() if own.is_dir() else ():
        path.unlink()
    if own.is_dir():
        own.rmdir()
