"""Decodes a stream in a content coding in parts, so that no other exchange waits for all."""

from collections import deque
from collections.abc import Iterator

from warex.engine.http.encoding import StreamDecoder
from warex.llm.body.framing import MAX_BODY


class CodedStream:
    """A stream that comes encoded, and what of it is decoded."""

    def __init__(self, coding: str) -> None:
        """``coding``: one that ``StreamDecoder.reads``."""
        self._decoder = StreamDecoder(coding)
        self._waiting: deque[bytes] = deque()
        self._parts: Iterator[bytes] = iter(())
        self.body = bytearray()
        """What is decoded."""

    def add(self, data: bytes) -> None:
        """Take the next encoded bytes."""
        if not self._is_over:
            self._waiting.append(data)

    def decode_part(self) -> bool:
        """Decode the next part, of 64 KiB at most; return whether there was one."""
        while (part := next(self._parts, None)) is None:
            if not self._waiting:
                return False
            self._parts = self._decoder.feed(self._waiting.popleft())
        self.body += part[: MAX_BODY - len(self.body)]
        if self._is_over:
            self._waiting.clear()
            self._parts = iter(())
        return True

    @property
    def _is_over(self) -> bool:
        """Whether the rest is not read: it is a decompression bomb, or too long."""
        return self._decoder.is_bomb or len(self.body) >= MAX_BODY
