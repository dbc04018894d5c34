"""The documents that the viewer asks for, by their names, from one or more runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warex.analysis.steps.as_json import divergence_json
from warex.analysis.steps.divergence import diverge
from warex.analysis.steps.path import trial_path
from warex.analysis.trial.record import read_attempt
from warex.errors import TraceError
from warex.files.reading import open_regular_file
from warex.report.text.divergence import describe_divergence, describe_step, trial_names
from warex.traces.blobs import BlobStore
from warex.traces.paths import BLOBS, EVENTS
from warex.view.run_document import (
    Attempt,
    attempts_of,
    clean_twin,
    full_run_document,
    run_document,
)
from warex.view.trial_document import raw_lines, trial_document

_PIECE = 1 << 20


class Documents:
    """Reads documents of runs; a run that grows is read anew at each request for it."""

    def __init__(self, runs: Sequence[Path], *, follow: bool = False) -> None:
        """Raise TraceError for a folder that is no run."""
        self._runs = tuple(runs)
        self._follow = follow
        self._attempts = [attempts_of(run) for run in runs]

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
        return {**trial_document(attempt.path), "twin": twin.id if twin else None}

    def raw(self, number: int, trial: str, chunk: int) -> list[str]:
        """Return lines of a trial's trace. Raises TraceError."""
        return raw_lines(self._attempt(number, trial).path, chunk)

    def blob(self, number: int, trial: str, reference: str) -> bytes:
        """Return an image or a body. Raises TraceError."""
        return BlobStore(self._attempt(number, trial).path / BLOBS).get(reference)

    def pair(self, one: tuple[int, str], other: tuple[int, str]) -> dict[str, Any]:
        """Return where two trials part, and their aligned steps. Raises TraceError."""
        first, second = self._attempt(*one), self._attempt(*other)
        paths = (
            trial_path(read_attempt(first.path).entries),
            trial_path(read_attempt(second.path).entries),
        )
        divergence = diverge(*paths)
        names = trial_names((first.key, second.key))
        return {
            "trials": [[*one], [*other]],
            "names": [*names],
            "summary": list(describe_divergence(divergence, names)),
            "sides": [
                [[step.number, step.seq, describe_step(step)] for step in path.steps]
                for path in paths
            ],
            "pairs": [[*pair] for pair in divergence.pairs],
            **divergence_json(divergence),
        }

    def search(self, number: int, text: str) -> list[str]:
        """Return the ids of the trials whose trace holds a text, without regard to ASCII case."""
        needle = json.dumps(text, ensure_ascii=False)[1:-1].encode().lower()
        return [
            attempt.id
            for attempt in self._attempts[number].values()
            if _holds(attempt.path, needle)
        ]

    def _run(self, number: int) -> Path:
        if not 0 <= number < len(self._runs):
            raise TraceError(f"There is no run {number} here; there are {len(self._runs)}.")
        return self._runs[number]

    def _attempt(self, number: int, trial: str) -> Attempt:
        self._run(number)
        if trial not in self._attempts[number]:
            self._attempts[number] = attempts_of(self._runs[number])
        try:
            return self._attempts[number][trial]
        except KeyError:
            raise TraceError(f"The run {self._runs[number]} has no trial {trial!r}.") from None


def _holds(attempt: Path, needle: bytes) -> bool:
    """Whether a trace holds these bytes in lower case; False if it cannot be read."""
    tail = b""
    try:
        with open_regular_file(attempt / EVENTS, follow=False) as file:
            while piece := file.read(_PIECE):
                piece = tail + piece.lower()
                if needle in piece:
                    return True
                tail = piece[len(piece) - len(needle) + 1 :] if len(needle) > 1 else b""
    except OSError:
        return False
    return False
