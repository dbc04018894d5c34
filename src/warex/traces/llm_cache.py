"""Caches answers of models in a run's folder, so that no request is paid for twice.

Trials of one agent, task and repeat share answers in all conditions. An attempt's answers are in
its own folder until the trial counts; those of a void one are discarded, since they may have broken
it. A file's name is a keyed hash of the request and the number of its occurrence; requests are not
stored.
"""

import hashlib
import hmac
import json
import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from msgspec import Struct

from warex.errors import TraceError
from warex.files.private import make_private_dir, private_opener
from warex.files.reading import read_regular_file
from warex.traces.files import write_atomic, write_error
from warex.traces.paths import TrialKey, escape

LLM_CACHE: Final = "llm-cache"
"""A run's folder of shared answers."""
OWN_ANSWERS: Final = "llm-answers"
"""An attempt's folder of its own answers, until the attempt is over."""
_SECRET: Final = ".secret"
"""Differs from agents' folders, whose names do not begin with a dot."""


class CachedAnswer(Struct, frozen=True):
    """A complete answer of status 200."""

    headers: tuple[tuple[str, str], ...]
    """Only those that are needed to read it."""
    body: bytes
    """As sent, maybe compressed."""
    latency_s: float
    """Seconds that it took originally."""

    def to_bytes(self) -> bytes:
        """Return the file's content: a line of JSON, then the body."""
        head = {"schema_version": 1, "latency_s": self.latency_s, "headers": self.headers}
        return json.dumps(head).encode() + b"\n" + self.body

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Parse a file's content. Raises ValueError if it is invalid."""
        line, mark, body = content.partition(b"\n")
        try:
            head = json.loads(line)
            if not mark or head["schema_version"] != 1:
                raise ValueError("no head of version 1")
            headers = tuple((str(name), str(value)) for name, value in head["headers"])
            return cls(headers, body, float(head["latency_s"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"no head: {error}") from None


class CacheLookup(Struct, frozen=True):
    """One occurrence of a request within a trial."""

    key: str
    """The request's keyed hash in hex."""
    nth: int
    """The number of the occurrence, from 1, among those with an answer."""

    @property
    def file(self) -> str:
        """The name of its answer's file."""
        return f"{self.key}-{self.nth}"


@dataclass(slots=True)
class LlmCache:
    """The cached answers for one attempt, and those that it adds."""

    shared: Path
    own: Path
    secret: bytes = field(repr=False)
    _asked: dict[str, set[int]] = field(default_factory=dict)

    def ask(self, method: str, url: str, body: bytes) -> CacheLookup:
        """Number an occurrence of a request; ``body`` is as sent, not redacted."""
        question = f"{method} {url}\n".encode() + body
        key = hmac.new(self.secret, question, hashlib.sha256).hexdigest()
        taken = self._asked.setdefault(key, set())
        nth = next(number for number in range(1, len(taken) + 2) if number not in taken)
        taken.add(nth)
        return CacheLookup(key, nth)

    def earlier(self, asking: CacheLookup) -> CachedAnswer | None:
        """Return an earlier trial's answer, or None. Raises TraceError for a damaged file."""
        path = self.shared / asking.file
        try:
            return CachedAnswer.from_bytes(read_regular_file(path, follow=False))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TraceError(f"{path} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            raise TraceError(f"{path} is not a kept answer ({error}); delete it.") from None

    def keep(self, asking: CacheLookup, answer: CachedAnswer) -> None:
        """Store a complete answer for other trials. Raises MachineError if that fails."""
        try:
            make_private_dir(self.own)
        except OSError as error:
            raise write_error(self.own, error) from None
        write_atomic(self.own / asking.file, answer.to_bytes())

    def give_up(self, asking: CacheLookup) -> None:
        """Release the number of an occurrence without an answer."""
        self._asked[asking.key].discard(asking.nth)


def begin_llm_cache(run: Path, secret_of_run: bytes | None = None) -> Path:
    """Make a run's cache with its own secret unless it exists; return its folder.

    ``secret_of_run`` is the secret of a run that was started on another machine. Raises
    MachineError if the cache cannot be written.
    """
    folder = run / LLM_CACHE
    secret, draft = folder / _SECRET, folder / f"{_SECRET}.new"
    try:
        make_private_dir(folder)
        if not secret.exists():
            draft.unlink(missing_ok=True)
            with open(draft, "xb", opener=private_opener) as file:
                file.write(secret_of_run or secrets.token_bytes(32))
            draft.replace(secret)
    except OSError as error:
        raise write_error(folder, error) from None
    return folder


def shared_answers_dir(cache: Path, key: TrialKey) -> Path:
    """Return the folder of the answers that a trial shares with those in other conditions."""
    return cache / escape(key.agent) / escape(key.task) / str(key.repeat)


def open_llm_cache(cache: Path, shared: Path, attempt: Path) -> LlmCache:
    """Open a run's cache for one attempt. Raises TraceError if its secret cannot be read."""
    return LlmCache(shared, attempt / OWN_ANSWERS, llm_cache_secret(cache))


def llm_cache_secret(cache: Path) -> bytes:
    """Return the key of a run's hashes. Raises TraceError if it cannot be read."""
    path = cache / _SECRET
    try:
        return read_regular_file(path, follow=False)
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}.") from None


def publish_answers(attempt: Path, shared: Path) -> None:
    """Share an attempt's answers; those already shared stay. Raises MachineError if that fails."""
    own = attempt / OWN_ANSWERS
    if not own.is_dir():
        return
    try:
        make_private_dir(shared)
        for path in sorted(own.iterdir()):
            if not (shared / path.name).exists():
                path.replace(shared / path.name)
        shutil.rmtree(own)
    except OSError as error:
        raise write_error(shared, error) from None


def discard_answers(attempt: Path) -> None:
    """Delete a void attempt's answers."""
    own = attempt / OWN_ANSWERS
    if own.is_dir():
        shutil.rmtree(own)
