"""The messages of one side of a WebSocket, of which some are changed, and the frames to send.

A message that is not changed goes on in the frames in which it came. Where a side keeps its
compression's context (RFC 7692 §7.1.1), a receiver that lacks one message, or has another, cannot
decompress the later ones: from there on, compressed messages are sent without compression, which
any message may be (RFC 7692 §6).
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from warex.engine.http.encoding import decoded_limit
from warex.engine.http.websocket import CONTINUATION, DATA, TEXT, Frame
from warex.engine.http.websocket_messages import Inflater

_MOST_FRAMES: Final = 1000
LONGEST: Final = 1024 * 1024
"""Bytes of a message that is held until it is complete; a longer one passes as it comes."""


class ContextLost(Exception):
    """A side cannot be read any more, and its receiver would not understand it as it came."""


class WholeMessage(Struct, frozen=True):
    """A message that is complete."""

    number: int
    """Among those of its side, from 1."""
    opcode: int
    content: bytes
    """Decompressed."""
    frames: tuple[Frame, ...]

    @property
    def is_text(self) -> bool:
        """Whether it is text, and not binary."""
        return self.opcode == TEXT

    @property
    def is_compressed(self) -> bool:
        """Whether it came compressed."""
        return self.frames[0].compressed


class MessageStream:
    """Divides the frames of one side into messages, and makes frames of what is sent of them."""

    def __init__(self, *, deflates: bool, keeps_context: bool) -> None:
        """``deflates``: a compression was agreed on."""
        self._deflates, self._keeps_context = deflates, keeps_context
        self._inflater = Inflater()
        self._opcode = CONTINUATION
        """Of the message that has begun; none has if it is a continuation's."""
        self._is_compressed = False
        self._frames: list[Frame] = []
        """Of the message that is held."""
        self._content = bytearray()
        self._size = self._received = self._number = 0
        self._passes = False
        """Whether the message that has begun is too long to be held."""
        self._differs = False
        """Whether the receiver's context is another than the sender's."""
        self.is_opaque = False
        """Whether nothing can be read from here on; all of it passes as it comes."""

    def receive(self, frame: Frame) -> Iterator[Frame | WholeMessage]:
        """Yield what passes with the next frame, and the message that it completes.

        Raises ContextLost.
        """
        if self.is_opaque or (frame.opcode not in DATA and not frame.flaw):
            yield frame
            return
        try:
            self._begin(frame)
            for part in self._decoded(frame):
                yield from self._take(part)
        except (ValueError, zlib.error) as error:
            self.is_opaque = True
            if self._differs:
                raise ContextLost(str(error)) from None
            yield from (*self.rest(), frame)
            return
        yield from self._end(frame)

    def rest(self) -> Sequence[Frame]:
        """Return the held frames of a message that does not end."""
        frames, self._frames = self._frames, []
        return frames

    # ---- what is sent of a message

    def unchanged(self, message: WholeMessage) -> Sequence[Frame]:
        """Return the frames of a message that is not changed, in its turn."""
        if message.is_compressed and self._differs:
            return (self.copy(message),)
        return message.frames

    def copy(self, message: WholeMessage) -> Frame:
        """Return a message once more, in one frame, which no later one depends on."""
        return Frame(message.opcode, message.content)

    def instead(self, message: WholeMessage, content: bytes | None = None) -> Sequence[Frame]:
        """Return the frames of another message in its place; none if it is left out."""
        self._differs |= message.is_compressed and self._keeps_context
        return () if content is None else (Frame(message.opcode, content),)

    # ----

    def _begin(self, frame: Frame) -> None:
        if frame.flaw:
            raise ValueError(frame.flaw)
        if (frame.opcode == CONTINUATION) is (self._opcode == CONTINUATION):
            raise ValueError("a message begins in another, or goes on before it has begun")
        if frame.compressed and (frame.opcode == CONTINUATION or not self._deflates):
            raise ValueError("a frame is compressed that may not be")
        if frame.opcode != CONTINUATION:
            self._opcode, self._is_compressed = frame.opcode, frame.compressed
            self._size = self._received = 0
            self._passes = False
            self._number += 1
        self._received += len(frame.raw)

    def _decoded(self, frame: Frame) -> Iterator[bytes]:
        if self._is_compressed:
            return self._inflater.inflate(frame.payload, final=frame.final)
        return iter((frame.payload,))

    @property
    def _sends_as_it_came(self) -> bool:
        return not (self._is_compressed and self._differs)

    def _take(self, part: bytes) -> Iterator[Frame]:
        """Keep a part of the content, or send it."""
        self._size += len(part)
        if self._is_compressed and self._size > decoded_limit(self._received):
            raise ValueError(f"a message decompresses to more than {self._size:,} bytes")
        if not self._passes:
            self._content += part
            if len(self._content) > LONGEST:
                yield from self._pass()
        elif part and not self._sends_as_it_came:
            yield Frame(CONTINUATION, part, final=False)

    def _pass(self) -> Iterator[Frame]:
        """Send what is held of a message that is too long, and what follows as it comes."""
        self._passes = True
        if self._sends_as_it_came:
            yield from self._frames
        else:
            yield Frame(self._opcode, bytes(self._content), final=False)
        self._frames = []
        self._content.clear()

    def _end(self, frame: Frame) -> Iterator[Frame | WholeMessage]:
        """Keep a frame, or send it; it may end its message."""
        if not self._passes:
            self._frames.append(frame)
            if not frame.final:
                if self._received > LONGEST or len(self._frames) > _MOST_FRAMES:
                    yield from self._pass()
                return
            content, self._content = bytes(self._content), bytearray()
            yield WholeMessage(self._number, self._opcode, content, tuple(self.rest()))
        elif self._sends_as_it_came:
            yield frame
        elif frame.final:
            yield Frame(CONTINUATION, b"")
        if frame.final:
            self._opcode = CONTINUATION
