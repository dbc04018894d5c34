"""HTTP/2 for the load and its site: as much of it as equal requests and answers need.

Header blocks are encoded in advance and repeated: from the second on, all their fields are indexed.
"""

import hpack

from bench.traffic.messages import BODY, PATH, REQUEST_HEADERS, RESPONSE_HEADERS
from bench.workspace import HOST

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_USUAL_WINDOW, _CLIENT_WINDOW = 65_535, 1 << 30

type Frame = tuple[int, int, int, bytes]
"""Type, flags, stream and payload."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Write a frame (RFC 9113 §4.1)."""
    return b"%b%c%c%b%b" % (len(payload).to_bytes(3), kind, flags, stream.to_bytes(4), payload)


class FrameReader:
    """Splits what came into frames."""

    def __init__(self, *, preface: bool) -> None:
        self._received = bytearray()
        self._preface = preface

    def receive(self, data: bytes) -> list[Frame]:
        """Return the frames that are complete."""
        received = self._received
        received += data
        if self._preface:
            if len(received) < len(_PREFACE):
                return []
            del received[: len(_PREFACE)]
            self._preface = False
        frames: list[Frame] = []
        at = 0
        while len(received) - at >= 9:
            end = at + 9 + int.from_bytes(received[at : at + 3])
            if end > len(received):
                break
            stream = int.from_bytes(received[at + 5 : at + 9])
            frames.append(
                (received[at + 3], received[at + 4], stream, bytes(received[at + 9 : end]))
            )
            at = end
        del received[:at]
        return frames


def _blocks(fields: list[tuple[str, str]]) -> tuple[bytes, bytes]:
    """Return the header block of a connection's first message, and of each later one."""
    encoder = hpack.Encoder()
    return encoder.encode(fields), encoder.encode(fields)


class Requests:
    """The client's side of a connection."""

    def __init__(self, port: int) -> None:
        named = [(":method", "GET"), (":scheme", "https"), (":authority", f"{HOST}:{port}")]
        fields = [(name.lower(), value) for name, value in REQUEST_HEADERS.items()]
        self._next, self._later = _blocks([*named, (":path", PATH), *fields])
        self._reader = FrameReader(preface=False)
        self._stream = 1
        self._bodies: dict[int, bytes] = {}
        self._unacknowledged = 0

    def begin(self) -> bytes:
        """Return what opens the connection, with windows that never fill."""
        window = b"\0\4" + _CLIENT_WINDOW.to_bytes(4)
        more = (_CLIENT_WINDOW - _USUAL_WINDOW).to_bytes(4)
        return _PREFACE + frame(SETTINGS, 0, 0, window) + frame(WINDOW_UPDATE, 0, 0, more)

    def request(self) -> bytes:
        """Return a request on a new stream."""
        stream, block = self._stream, self._next
        self._stream, self._next = stream + 2, self._later
        self._bodies[stream] = b""
        return frame(HEADERS, END_HEADERS | END_STREAM, stream, block)

    def receive(self, data: bytes) -> tuple[int, bytes]:
        """Return how many answers are complete, and what is to be sent in return.

        Raises ConnectionError if an answer is not the site's.
        """
        answers, out = 0, b""
        for kind, flags, stream, payload in self._reader.receive(data):
            if kind == SETTINGS and not flags & ACK:
                out += frame(SETTINGS, ACK, 0)
            elif kind == PING and not flags & ACK:
                out += frame(PING, ACK, 0, payload)
            elif kind in (RST_STREAM, GOAWAY):
                raise ConnectionError(f"a stream or the connection was ended: {payload!r}")
            elif kind == DATA:
                self._bodies[stream] += payload
                self._unacknowledged += len(payload)
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                if (body := self._bodies.pop(stream)) != BODY:
                    raise ConnectionError(f"the answer is {body[:200]!r}")
                answers += 1
        if self._unacknowledged > 1 << 20:
            out += frame(WINDOW_UPDATE, 0, 0, self._unacknowledged.to_bytes(4))
            self._unacknowledged = 0
        return answers, out


class Answers:
    """The site's side of a connection."""

    def __init__(self) -> None:
        fields = [(name.lower(), value) for name, value in RESPONSE_HEADERS.items()]
        self._next, self._later = _blocks([(":status", "200"), *fields])
        self._reader = FrameReader(preface=True)
        self._window = _USUAL_WINDOW
        self._waiting: list[int] = []
        self._has_begun = False

    def receive(self, data: bytes) -> bytes:
        """Return what is to be sent, in return for what came."""
        out = b"" if self._has_begun else frame(SETTINGS, 0, 0)
        self._has_begun = True
        for kind, flags, stream, payload in self._reader.receive(data):
            if kind == SETTINGS and not flags & ACK:
                out += frame(SETTINGS, ACK, 0)
            elif kind == PING and not flags & ACK:
                out += frame(PING, ACK, 0, payload)
            elif kind == WINDOW_UPDATE and not stream:
                self._window += int.from_bytes(payload)
            elif kind == HEADERS and flags & END_STREAM:
                self._waiting.append(stream)
        while self._waiting and self._window >= len(BODY):
            stream = self._waiting.pop(0)
            self._window -= len(BODY)
            out += frame(HEADERS, END_HEADERS, stream, self._next)
            out += frame(DATA, END_STREAM, stream, BODY)
            self._next = self._later
        return out
