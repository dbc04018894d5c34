"""What is said on one connection under load: requests and answers of 2 kB, made in advance.

Both protocols cost client and site as little as Python allows. HTTP/2 is spoken by the frame
(RFC 9113), with windows that are never used up.
"""

import hpack
from hyperframe.frame import (
    DataFrame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from bench.setting import HOST

PATH = "/list?page=1"
"""What is asked for, again and again."""
BODY = (b"<!doctype html><title>2 kB</title>" + b"<p>All work and no play.</p>" * 80)[:2000]
PROTOCOLS = ("http/1.1", "h2")

_ASKED = {
    "sec-ch-ua": '"Chromium";v="140", "Not=A?Brand";v="24"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Linux"',
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0",
    "Accept": "*/*",
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-Mode": "cors",
    "Sec-Fetch-Dest": "empty",
    "Referer": "https://shop.example/list",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9",
}
"""As Chromium has it."""
_ANSWERED = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": str(len(BODY)),
    "Cache-Control": "no-store",
    "Server": "bench",
}
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME = 9
_MOST = 2**31 - 1
_USUAL_WINDOW = 65535


def _lines(first: str, fields: dict[str, str]) -> bytes:
    return "\r\n".join([first, *(f"{k}: {v}" for k, v in fields.items()), "", ""]).encode()


def _block(pseudo: dict[str, str], fields: dict[str, str]) -> bytes:
    lower = {name.lower(): value for name, value in fields.items()}
    return hpack.Encoder().encode([*pseudo.items(), *lower.items()])


class Http1Client:
    """One request at a time."""

    def __init__(self, port: int) -> None:
        host = {"Host": f"{HOST}:{port}", "Connection": "keep-alive"}
        self._request = _lines(f"GET {PATH} HTTP/1.1", host | _ASKED)
        self._held = bytearray()

    def ask(self) -> bytes:
        """Return what asks."""
        return self._request

    def take(self, data: bytes) -> bool:
        """Return whether the answer is whole; raise ConnectionError if it is not the site's."""
        self._held += data
        head = self._held.find(b"\r\n\r\n")
        if head < 0 or len(self._held) - head - 4 < len(BODY):
            return False
        if not (self._held.startswith(b"HTTP/1.1 200") and self._held.endswith(BODY)):
            raise ConnectionError(f"the answer is {bytes(self._held[:200])!r}")
        self._held.clear()
        return True


class Http2Client:
    """One stream at a time."""

    def __init__(self, port: int) -> None:
        pseudo = {":method": "GET", ":scheme": "https", ":authority": f"{HOST}:{port}"}
        self._block = _block(pseudo | {":path": PATH}, _ASKED)
        window = {SettingsFrame.INITIAL_WINDOW_SIZE: _MOST, SettingsFrame.ENABLE_PUSH: 0}
        self._owed = _PREFACE + SettingsFrame(0, settings=window).serialize()
        self._owed += WindowUpdateFrame(0, window_increment=_MOST - _USUAL_WINDOW).serialize()
        self._stream = -1
        self._held, self._body = b"", b""

    def ask(self) -> bytes:
        """Return what asks, behind what is owed to the other side."""
        self._stream += 2
        frame = HeadersFrame(self._stream, self._block, flags=["END_HEADERS", "END_STREAM"])
        owed, self._owed = self._owed, b""
        return owed + frame.serialize()

    def take(self, data: bytes) -> bool:
        """Return whether the answer is whole; raise ConnectionError if it is not the site's."""
        self._held += data
        ended = False
        while (frame := _frame(self._held)) is not None:
            kind, flags, content = frame
            self._held = self._held[_FRAME + len(content) :]
            if kind in (GoAwayFrame.type, RstStreamFrame.type):
                raise ConnectionError("the stream was reset, or the connection ended")
            if kind == DataFrame.type:
                self._body += content
            self._owed += _acknowledged(kind, flags, content)
            ended |= kind in (DataFrame.type, HeadersFrame.type) and bool(flags & 1)
        if ended:
            if self._body != BODY:
                raise ConnectionError(f"the answer is {self._body[:200]!r}")
            self._body = b""
        return ended


class Http1Site:
    """Answers each request."""

    _answer = _lines("HTTP/1.1 200 OK", _ANSWERED) + BODY

    def take(self, data: bytes) -> bytes:
        """Return what is to be sent."""
        # A request without a body ends so, and comes in one TLS record.
        return self._answer if data.endswith(b"\r\n\r\n") else b""


class Http2Site:
    """Answers each stream."""

    _block = _block({":status": "200"}, _ANSWERED)

    def __init__(self) -> None:
        self._held, self._begun = b"", False

    def take(self, data: bytes) -> bytes:
        """Return what is to be sent."""
        self._held += data
        sent = b""
        if not self._begun:
            if len(self._held) < len(_PREFACE):
                return b""
            self._begun, self._held = True, self._held.removeprefix(_PREFACE)
            sent = SettingsFrame(0).serialize()
        while (frame := _frame(self._held)) is not None:
            kind, flags, content = frame
            stream = int.from_bytes(self._held[5:_FRAME])
            self._held = self._held[_FRAME + len(content) :]
            sent += _acknowledged(kind, flags, content)
            if kind in (DataFrame.type, HeadersFrame.type) and flags & 1:
                sent += HeadersFrame(stream, self._block, flags=["END_HEADERS"]).serialize()
                sent += DataFrame(stream, BODY, flags=["END_STREAM"]).serialize()
        return sent


def _frame(held: bytes) -> tuple[int, int, bytes] | None:
    """Return type, flags and content of the first frame, if it is whole."""
    length = int.from_bytes(held[:3])
    if len(held) < _FRAME or len(held) < _FRAME + length:
        return None
    return held[3], held[4], held[_FRAME : _FRAME + length]


def _acknowledged(kind: int, flags: int, content: bytes) -> bytes:
    if flags & 1:
        return b""
    if kind == SettingsFrame.type:
        return SettingsFrame(0, flags=["ACK"]).serialize()
    if kind == PingFrame.type:
        return PingFrame(0, content, flags=["ACK"]).serialize()
    return b""


type Client = Http1Client | Http2Client


def client(protocol: str, port: int) -> Client:
    """Return what a client says on a new connection."""
    return Http2Client(port) if protocol == "h2" else Http1Client(port)


def site(protocol: str | None) -> Http1Site | Http2Site:
    """Return what a site says on a new connection."""
    return Http2Site() if protocol == "h2" else Http1Site()
