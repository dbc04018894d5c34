"""Copies a response's body while it is relayed."""

from typing import override

from warex.lane.response_faults.stream_rewriter import BodyReader


class BodyCopy(BodyReader):
    """Copies a body of up to ``largest`` bytes."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._copy = bytearray()
        self._is_larger = False

    @override
    def read(self, data: bytes) -> None:
        if self._is_larger:
            return
        self._copy += data
        if len(self._copy) > self._largest:
            self._is_larger = True
            self._copy = bytearray()

    @property
    def body(self) -> bytes:
        """The copied body; empty if it is larger."""
        return bytes(self._copy)
