"""Keeps what pages and sites send each other as blobs, without secrets, if that is asked for.

A body is kept whole or not at all, decoded. One that holds a secret which was learned only later is
removed at the end of the trial, since its reference is the hash of what it holds.
"""

from typing import Final

from warex.engine.http.encoding import decode
from warex.traces.blobs import BlobStore
from warex.traces.redaction.redactor import Redactor

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a body that is kept, decoded or not."""
MOST: Final = 256 * 1024 * 1024
"""Bytes of all that are kept in a trial, each counted as often as it was sent."""


class RecordedBodies:
    """The bodies of a trial."""

    def __init__(self, blobs: BlobStore, redactor: Redactor) -> None:
        self._blobs = blobs
        self._redactor = redactor
        self._left = MOST
        self._references: set[str] = set()

    def keep(self, body: bytes, content_type: str, content_encoding: str) -> str:
        """Store a body and return its reference; empty if there is none, or it is not kept.

        Raises MachineError if it cannot be stored.
        """
        if not 0 < len(body) <= LARGEST:
            return ""
        if content_encoding:
            decoded = decode(body, content_encoding, LARGEST + 1)
            body = b"" if decoded.error is not None else decoded.body
        if not 0 < len(body) <= min(LARGEST, self._left):
            return ""
        self._left -= len(body)
        reference = self._blobs.put(self._redactor.body(body, content_type))
        self._references.add(reference)
        return reference

    def close(self) -> None:
        """Remove the bodies with a secret that was learned after they were kept."""
        learned = self._redactor.learned
        if learned.is_empty:
            return
        for reference in self._references:
            if learned.in_text(self._blobs.get(reference)):
                self._blobs.remove(reference)
