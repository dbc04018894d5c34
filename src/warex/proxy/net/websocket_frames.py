"""Reads a copy of a WebSocket's bytes: messages, the close, or that it cannot be read.

Source: RFC 6455 (frames) and RFC 7692 (compression). wsproto parses the frames.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wsproto.extensions import Extension, PerMessageDeflate
from wsproto.frame_protocol import CloseReason, FrameProtocol, Opcode, ParseFailed

from warex.engine.http.encoding import decoded_limit
from warex.llm.body.framing import MAX_BODY

_PIECE: Final = 8192
"""Bytes decompressed at a time, since the output may be a thousand times as long."""

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_PARAMETER = re.compile(
    rf'[ \t]*;[ \t]*({_TOKEN})(?:[ \t]*=[ \t]*(?:({_TOKEN})|"((?:[^"\\]|\\.)*)"))?'
)
_EXTENSION = re.compile(rf"[ \t,]*({_TOKEN})")
_WINDOW = re.compile(r"[89]|1[0-5]")


@dataclass(frozen=True, slots=True)
class Message:
    """A message has passed."""

    size: int
    """Bytes, decompressed."""
    text: bool
    content: bytes = b""
    """Kept only where it was asked for."""


@dataclass(frozen=True, slots=True)
class Closed:
    """A side has sent a Close frame."""

    code: int | None


@dataclass(frozen=True, slots=True)
class Opaque:
    """From here on nothing can be read."""

    reason: str


type FrameEvent = Message | Closed | Opaque


class NegotiatedExtensions:
    """The extensions that the site's response accepts."""

    def __init__(self, answered: str) -> None:
        """``answered``: the value of ``Sec-WebSocket-Extensions``; empty for none.

        Raises ValueError, saying why, where frames cannot be read under it.
        """
        found = list(_extensions(answered))
        self.deflates = bool(found)
        for name, _ in found:
            if name != PerMessageDeflate.name:
                raise ValueError(f"the extension {name} is not known")
        if len(found) > 1:
            raise ValueError("two compressions are agreed on")
        for _, parameters in found:
            _check(parameters)

    def extensions(self) -> list[Extension]:
        """Return the extensions of one direction."""
        if not self.deflates:
            return []
        # The largest window, with context takeover, can read data compressed with any parameters.
        deflate = PerMessageDeflate()
        deflate.finalize(PerMessageDeflate.name)
        return [deflate]


def _extensions(answered: str) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Yield each extension with its parameters (RFC 6455 §9.1)."""
    at = 0
    while found := _EXTENSION.match(answered, at):
        at = found.end()
        parameters: list[tuple[str, str | None]] = []
        while parameter := _PARAMETER.match(answered, at):
            at = parameter.end()
            name, plain, quoted = parameter.groups()
            value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            parameters.append((name, value))
        yield found[1], parameters
        if answered[at:].strip(" \t") and answered[at:].lstrip(" \t")[0] != ",":
            break
    if answered[at:].strip(" \t,"):
        raise ValueError(f"Sec-WebSocket-Extensions cannot be read from {answered[at:][:80]!r} on")


def _check(parameters: list[tuple[str, str | None]]) -> None:
    """Raise ValueError for what a site may not answer (RFC 7692 §7.1)."""
    names = [name for name, _ in parameters]
    for name, value in parameters:
        if names.count(name) > 1:
            raise ValueError(f"{name} is listed twice")
        match name:
            case "server_no_context_takeover" | "client_no_context_takeover":
                if value is not None:
                    raise ValueError(f"{name} has no value, and {value[:80]!r} was given")
            case "server_max_window_bits" | "client_max_window_bits":
                if value is None or not _WINDOW.fullmatch(value):
                    raise ValueError(f"{name} is {(value or '')[:80]!r}, not 8 to 15")
            case _:
                raise ValueError(f"permessage-deflate has no parameter {name}")


class FrameReader:
    """Reads the frames of one side."""

    def __init__(
        self, negotiation: NegotiatedExtensions, *, from_client: bool, keep: bool = False
    ) -> None:
        """``keep``: whether the messages are to have their content."""
        self._kept = bytearray() if keep else None
        self._frames = FrameProtocol(not from_client, negotiation.extensions())
        self._piece = _PIECE if negotiation.deflates else 0
        self._size = self._received = 0
        self._over = False
        """Whether the side has closed, or cannot be read any more."""

    def read(self, data: bytes) -> Iterator[FrameEvent]:
        """Yield the events of the next bytes; nothing is raised."""
        step = self._piece or len(data) or 1
        try:
            for at in range(0, len(data), step):
                if self._over:
                    return
                part = data[at : at + step]
                self._received += len(part)
                self._frames.receive_bytes(part)
                yield from self._read()
                if self._size > decoded_limit(self._received):
                    self._over = True
                    yield Opaque(f"a message decompresses to more than {self._size:,} bytes")
        except ParseFailed as error:
            self._over = True
            yield Opaque(f"a frame cannot be read: {error}")
        except Exception as error:  # noqa: BLE001 - a peer's bytes may break any parser
            self._over = True
            yield Opaque(f"a frame cannot be read: {type(error).__name__}: {error}")

    def _read(self) -> Iterator[FrameEvent]:
        for frame in self._frames.received_frames():
            match frame.opcode:
                case Opcode.TEXT | Opcode.BINARY:
                    sent = frame.payload
                    assert isinstance(sent, str | bytes | bytearray)
                    content = sent.encode() if isinstance(sent, str) else sent
                    self._size += len(content)
                    if self._kept is not None:
                        self._kept += content[: MAX_BODY - len(self._kept)]
                    if frame.message_finished:
                        is_text = frame.opcode is Opcode.TEXT
                        yield Message(self._size, is_text, bytes(self._kept or b""))
                        self._size = self._received = 0
                        if self._kept is not None:
                            self._kept.clear()
                case Opcode.CLOSE:
                    self._over = True
                    yield Closed(int(frame.payload[0]))
                case _:
                    pass


ABNORMAL: Final = int(CloseReason.ABNORMAL_CLOSURE)
"""The code of an end without a closing frame (RFC 6455 §7.1.5)."""
