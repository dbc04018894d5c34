"""The documents that the viewer asks for, by their names, from one or more runs."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from warex.analysis.steps.as_json import divergence_json
from warex.analysis.steps.divergence import diverge
from warex.analysis.steps.path import trial_path
from warex.analysis.trial.record import read_attempt
from warex.errors import TraceError
from warex.report.text.divergence import describe_divergence, describe_step, trial_names
from warex.traces.blobs import BlobStore
from warex.traces.paths import BLOBS, EVENTS
from warex.view.body_document import body_document
from warex.view.comparable import clean_twin, comparable
from warex.view.judgement import is_judged_at_once, judgement
from warex.view.log_document import log_document
from warex.view.prompt_document import prompt_document
from warex.view.run_document import (
    Attempt,
    attempts_of,
    full_run_document,
    require_run,
    run_document,
)
from warex.view.search import search
from warex.view.search_index import search_index
from warex.view.trace_index import RAW_CHUNK, TraceIndex, raw_lines, read_index
from warex.view.trial_document import trial_document

_INDEXES = 4
"""Traces whose index is kept."""
_LARGEST_IMAGE = 1 << 24
"""Bytes."""


class Documents:
    """Reads documents of runs; a run that grows is read again at each request for it."""

    def __init__(self, runs: Sequence[Path], *, follow: bool = False) -> None:
        """Raise TraceError for a folder that is not a run."""
        self._runs = tuple(runs)
        self._follow = follow
        self._attempts: list[dict[str, Attempt]] = [{} for _ in runs]
        self._indexes: dict[tuple[Path, int, int], TraceIndex] = {}
        for run in runs:
            require_run(run)

    @property
    def number_of_runs(self) -> int:
        """How many runs there are."""
        return len(self._runs)

    def runs(self) -> dict[str, Any]:
        """Return the names of the runs, and whether they may grow."""
        names = [run.resolve().name for run in self._runs]
        return {"runs": [*names], "follow": self._follow}

    def run(self, number: int) -> dict[str, Any]:
        """Return a run, quickly: see ``run_document``. Raises TraceError if it is not there."""
        run = self._run(number)
        self._attempts[number] = attempts_of(run)
        return run_document(run, self._attempts[number])

    def figures(self, number: int) -> dict[str, Any]:
        """Return a run with the figures computed from its traces. Raises TraceError."""
        return full_run_document(self._run(number), self._attempts[number])

    def trial(self, number: int, trial: str) -> dict[str, Any]:
        """Return a trial, with the id of its clean twin. Raises TraceError."""
        attempt = self._attempt(number, trial)
        twin = clean_twin(self._attempts[number], attempt.key)
        return {
            **trial_document(attempt, self._index(attempt)),
            "twin": twin.id if twin else None,
            "others": self.comparable(number, trial),
            "judgement": judgement(attempt) if is_judged_at_once(attempt) else None,
        }

    def comparable(self, number: int, trial: str) -> list[dict[str, Any]]:
        """Return the trials that one may be laid beside. Raises TraceError."""
        attempt = self._attempt(number, trial)
        for other, run in enumerate(self._runs):
            with suppress(TraceError):
                self._attempts[other] = self._attempts[other] or attempts_of(run)
        return comparable(self._attempts, self.runs()["runs"], number, attempt)

    def prompt(self, number: int, trial: str, seq: int) -> dict[str, Any]:
        """Return the prompt of a call, as a difference to the one before. Raises TraceError."""
        return prompt_document(self._index(self._attempt(number, trial)), seq)

    def judgement(self, number: int, trial: str) -> dict[str, Any]:
        """Return what is judged of a trial, which may take seconds. Raises TraceError."""
        return judgement(self._attempt(number, trial))

    def raw(self, number: int, trial: str, chunk: int) -> list[str]:
        """Return lines of a trial's trace. Raises TraceError."""
        attempt = self._attempt(number, trial)
        return raw_lines(attempt.path, self._index(attempt), chunk)

    def raw_chunks(self, number: int, trial: str) -> list[int]:
        """Return the numbers of the raw documents of a trial. Raises TraceError."""
        return sorted(self._index(self._attempt(number, trial)).chunks)

    def blob(self, number: int, trial: str, reference: str) -> bytes:
        """Return an image. Raises TraceError, also for one that is too large."""
        folder = self._attempt(number, trial).path / BLOBS
        return BlobStore(folder).get(reference, _LARGEST_IMAGE)

    def body(self, number: int, trial: str, seq: int) -> dict[str, Any]:
        """Return the body that a line of a trial's trace refers to. Raises TraceError."""
        lines = self.raw(number, trial, (seq - 1) // RAW_CHUNK)
        return body_document(self._attempt(number, trial).path, lines, seq)

    def log(self, number: int, trial: str) -> dict[str, Any]:
        """Return what a trial's agent printed. Raises TraceError."""
        return log_document(self._attempt(number, trial).path)

    def pair(self, one: tuple[int, str], other: tuple[int, str]) -> dict[str, Any]:
        """Return where two trials diverge, and their aligned steps. Raises TraceError."""
        first, second = self._attempt(*one), self._attempt(*other)
        paths = (
            trial_path(read_attempt(first.path).entries),
            trial_path(read_attempt(second.path).entries),
        )
        divergence = diverge(*paths)
        names = trial_names((first.key, second.key))
        tasks = dict.fromkeys((first.key.task, second.key.task))
        return {
            "trials": [[*one], [*other]],
            "task": " and ".join(tasks),
            "agent": first.key.agent if first.key.agent == second.key.agent else "",
            "names": [*names],
            "summary": list(describe_divergence(divergence, names)),
            "sides": [
                [[step.number, step.seq, describe_step(step)] for step in path.steps]
                for path in paths
            ],
            "pairs": [[*pair] for pair in divergence.pairs],
            **divergence_json(divergence),
        }

    def search(self, number: int, text: str) -> dict[str, Any]:
        """Return the ids of the trials that hold a text: see ``search``. Raises TraceError."""
        require_run(self._run(number))
        return search(list(self._attempts[number].values()), text)

    def search_index(self, number: int) -> tuple[dict[str, Any], list[list[str]]]:
        """Return what a search looks into, for pages without a server: see ``search_index``."""
        return search_index(list(self._attempts[number].values()))

    def _index(self, attempt: Attempt) -> TraceIndex:
        """Return the index of a trial's trace, which is read again if that has changed."""
        try:
            status = (attempt.path / EVENTS).stat()
        except FileNotFoundError:
            return TraceIndex(
                problems=[f"{attempt.path / EVENTS} does not exist: no traffic was recorded."]
            )
        except OSError as error:
            raise TraceError(f"{attempt.path / EVENTS} cannot be read: {error.strerror}.") from None
        key = attempt.path, status.st_size, status.st_mtime_ns
        index = self._indexes.pop(key, None) or read_index(attempt.path)
        self._indexes[key] = index
        while len(self._indexes) > _INDEXES:
            self._indexes.pop(next(iter(self._indexes)), None)
        return index

    def _run(self, number: int) -> Path:
        if not 0 <= number < len(self._runs):
            raise TraceError(f"There is no run {number} here; there are {len(self._runs)}.")
        return self._runs[number]

    def _attempt(self, number: int, trial: str) -> Attempt:
        self._run(number)
        if trial not in self._attempts[number]:
            self._attempts[number] = attempts_of(self._runs[number])
        try:
            attempt = self._attempts[number][trial]
        except KeyError:
            raise TraceError(f"The run {self._runs[number]} has no trial {trial!r}.") from None
        if not attempt.path.is_dir():
            raise TraceError(f"{attempt.folder} is not there any more.")
        return attempt
