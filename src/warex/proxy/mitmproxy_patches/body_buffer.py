"""A message's body while it arrives, held once, and a large one on its way to the site."""

import asyncio
from dataclasses import dataclass
from io import BytesIO
from typing import Final, override

from mitmproxy import http
from mitmproxy.proxy.utils import ReceiveBuffer

PIECE_SIZE: Final = 256 * 1024
"""Bytes: a longer body goes to the site in such pieces, each when the one before has left."""


class BodyBuffer(ReceiveBuffer):
    """What mitmproxy collects a body in; to take it out of here copies nothing.

    mitmproxy's own holds pieces, and all of them once more when they are joined. The bytes that
    CPython's ``BytesIO`` gives out are those in which it collects.
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
    """A piece of a request's body that is on its way to the site."""

    flow: http.HTTPFlow
    settled: asyncio.Event
    """Set when it is not worth waiting any more: the client has gone, or the site has answered."""


def split(content: bytes) -> list[memoryview]:
    """Divide a body; nothing is copied."""
    view = memoryview(content)
    return [view[at : at + PIECE_SIZE] for at in range(0, len(view), PIECE_SIZE)]
