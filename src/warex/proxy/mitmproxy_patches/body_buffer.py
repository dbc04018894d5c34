"""Buffers a message body without copies, and splits a large request body for sending."""

import asyncio
from dataclasses import dataclass
from io import BytesIO
from typing import Final, override

from mitmproxy import http
from mitmproxy.proxy.utils import ReceiveBuffer

PIECE_SIZE: Final = 256 * 1024
"""Bytes: a longer body is sent in such pieces, each when the previous one has left."""


class BodyBuffer(ReceiveBuffer):
    """A buffer for mitmproxy that holds a body only once.

    mitmproxy's own keeps pieces, and copies them to join them. ``BytesIO.getvalue`` of CPython
    returns its internal bytes without a copy.
    """

    def __init__(self) -> None:
        self._held = BytesIO()

    def __iadd__(self, other: bytes) -> "BodyBuffer":
        self._held.write(other)
        return self

    def __len__(self) -> int:
        return self._held.tell()

    def __bytes__(self) -> bytes:
        return self._held.getvalue()

    def __bool__(self) -> bool:
        return self._held.tell() > 0

    @override
    def clear(self) -> None:
        self._held = BytesIO()


@dataclass(frozen=True, slots=True)
class Upload:
    """A piece of a request's body that is being sent to the site."""

    flow: http.HTTPFlow
    settled: asyncio.Event
    """Set when waiting has no use any more: the client has left, or the site has answered."""


def split(content: bytes) -> list[memoryview]:
    """Split a body without copies."""
    view = memoryview(content)
    return [view[at : at + PIECE_SIZE] for at in range(0, len(view), PIECE_SIZE)]
