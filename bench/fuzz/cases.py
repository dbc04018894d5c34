"""What a fuzz run sends: valid and odd messages, with small mistakes, drawn from a seed. Pure."""

import random  # noqa: TID251  (Of this run, not of a trial.)
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import hpack
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    PushPromiseFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from bench.fuzz import mutants_http, mutants_websocket
from bench.fuzz.mutate import mutated

SITE_STATUS = 203
"""An honest site answers so, and nobody else does."""
PLACE = b"localhost:00000"
"""Stands for host and port of the site, which are as long: lengths in what is sent stay right."""
_LONGEST = 100_000
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

type Door = Literal["http/1.1", "h2", "tunnel", "proxy", "control"]
"""What the client writes into: TLS of either protocol in a tunnel, a bare tunnel, the proxy's port,
the control port."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a client sends and what the site answers, byte for byte."""

    number: int
    family: str
    door: Door
    sends: bytes
    answer: bytes
    then: bytes = b""
    """Sent once something has come back."""
    closes: bool = False
    """Whether the site ends the connection behind its answer."""
    honest: bool = True
    """Whether the site's answer is a good one."""

    @property
    def names_hosts(self) -> bool:
        """Whether the proxy may be asked for any host at all, not only for the site."""
        return self.door == "proxy"


def _placed(*messages: bytes) -> tuple[bytes, ...]:
    return tuple(message.replace(b"PLACE", PLACE) for message in messages)


_BODY = b"<!doctype html><title>fuzz</title>site"
HONEST = (
    b"HTTP/1.1 %d OK\r\nContent-Type: text/html\r\nX-Site: yes\r\nContent-Length: %d\r\n\r\n"
    % (SITE_STATUS, len(_BODY))
) + _BODY

_REQUESTS = _placed(
    b"GET / HTTP/1.1\r\nHost: PLACE\r\nAccept: */*\r\n\r\n",
    b"GET /a?b=c HTTP/1.1\r\nHost: PLACE\r\nCookie: a=b\r\nCookie: c=d\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: PLACE\r\nContent-Length: 5\r\n\r\nhello",
    b"POST / HTTP/1.1\r\nHost: PLACE\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: PLACE\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
    b"HEAD / HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: PLACE\r\nHost: other.example\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost:99999\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: user:pw@localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"GET http://[::1/ HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"GET https://PLACE/absolute HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: PLACE\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
    b"POST / HTTP/1.1\r\nHost: PLACE\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: PLACE\r\nno colon here\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: PLACE\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: PLACE\r\n folded: x\r\n\r\n",
    b"BREW /\x00 HTTP/1.1\r\nHost: PLACE\r\n\r\n",
)
_FORWARDED = _placed(
    b"GET http://PLACE/ HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"POST http://PLACE/ HTTP/1.1\r\nHost: PLACE\r\nContent-Length: 2\r\n\r\nhi",
    b"GET / HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"GET ftp://PLACE/ HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"GET http://user:pw@PLACE/ HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"GET http://localhost:99999/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    PREFACE + SettingsFrame(0).serialize(),
)
_ANSWERS = (
    HONEST,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsite\r\n0\r\nX-End: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /\xff\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + HONEST,
    b"HTTP/1.1 100 Continue\r\n\r\n" + HONEST,
    b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
    b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"4\r\nsite\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nbare line\r\nContent-Length: 2\r\n\r\nhi",
    b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi",
    b"ICY 200 OK\r\nContent-Type: audio/mpeg\r\n\r\nsound",
    b"HTTP/1.0 200 OK\r\n\r\nold",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nsite",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\nsite",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n\x00\x01",
    b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
    b"220 smtp.example ready\r\n",
)
_ASKS_SOCKET = (
    b"GET /socket HTTP/1.1\r\nHost: " + PLACE + b"\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: " + mutants_websocket.KEY.encode() + b"\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
)
_MASK = b"\x01\x02\x03\x04"


@cache
def _requests() -> Sequence[bytes]:
    return (*_REQUESTS, *_bytes_of(mutants_http.requests(PLACE)))


@cache
def _answers() -> Sequence[bytes]:
    return (*_ANSWERS, *_bytes_of(mutants_http.answers()))


@cache
def _upgrades() -> Sequence[bytes]:
    return _bytes_of(mutants_websocket.answers())


@cache
def _frames(mask: bytes) -> Sequence[bytes]:
    return _bytes_of(mutants_websocket.frames(mask))


def _bytes_of(named: Iterable[tuple[str, bytes]]) -> Sequence[bytes]:
    """Leave names out, and what is so large that it would be most of a run."""
    return [data for _, data in named if len(data) < _LONGEST]


_CONNECTS = _placed(
    b"CONNECT PLACE HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"CONNECT PLACE HTTP/1.0\r\n\r\n",
    b"CONNECT localhost HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT [::1 HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"CONNECT localhost:99999 HTTP/1.1\r\nHost: localhost:99999\r\n\r\n",
    b"CONNECT user:pw@PLACE HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"CONNECT https://PLACE/ HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 3\r\n\r\nabc",
    b"\x05\x01\x00\x05\x01\x00\x03\x09localhost\x00\x50",
    b"\x04\x01\x00\x50\x7f\x00\x00\x01me\x00",
    b"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: PLACE\r\n\r\n",
)
_CONTROLS = (
    b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"OPTIONS /arm HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://a.example\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"POST /faults HTTP/1.1\r\nAuthorization: Bearer x\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /task/begin HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n",
    b"DELETE /ledger HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
)

type Headers = list[tuple[bytes, bytes]]


def _header_lists(path: bytes = b"/") -> Sequence[Headers]:
    usual = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", PLACE), (b":path", path)]
    return (
        usual,
        [*usual, (b"cookie", b"a=b"), (b"cookie", b"c=d")],
        [*usual[:3], (b":path", b"no-slash")],
        usual[:3],
        [*usual, (b":path", b"/twice")],
        [*usual, (b"host", b"other.example")],
        [*usual[:2], (b":authority", b"user:pw@localhost:99999"), usual[3]],
        [*usual[:2], (b":authority", b"[::1"), usual[3]],
        [*usual[:2], usual[3], (b"host", PLACE)],
        [(b":method", b"CONNECT"), (b":authority", PLACE)],
        [(b":method", b"CONNECT"), (b":protocol", b"websocket"), *usual[1:]],
        [*usual, (b"Upper-Case", b"x")],
        [*usual, (b"connection", b"close"), (b"transfer-encoding", b"chunked")],
        [*usual, (b"te", b"gzip"), (b"content-length", b"5")],
        [*usual, (b"x\x00y", b"a\r\nb: c")],
        [*usual, (b"", b"empty")],
        [*usual, (b"x-long", b"v" * 20_000)],
        [(b":status", b"200"), *usual],
        [(b"x-first", b"1"), *usual],
        [(b":method", b"GE T"), *usual[1:]],
        [usual[0], (b":scheme", b"ftp"), *usual[2:]],
    )


_STATUS_LISTS: Sequence[Headers] = (
    [(b":status", b"203"), (b"x-site", b"yes")],
    [(b":status", b"200"), (b"content-length", b"4")],
    [(b":status", b"200"), (b"content-length", b"99")],
    [(b":status", b"200"), (b"content-length", b"4"), (b"content-length", b"5")],
    [(b":status", b"204")],
    [(b":status", b"103"), (b"link", b"</a>")],
    [(b":status", b"abc")],
    [(b":status", b"101")],
    [(b"x-no-status", b"1")],
    [(b":status", b"200"), (b"Upper", b"x"), (b"connection", b"close")],
    [(b":status", b"200"), (b":status", b"404")],
    [(b":status", b"200"), (b"x\r\ny", b"z\x00")],
    [(b":status", b"200"), (b"content-encoding", b"gzip")],
    [(b":path", b"/"), (b":status", b"200")],
)


def _block(headers: Headers) -> bytes:
    return hpack.Encoder().encode(headers, huffman=False)


def _headers_frame(stream: int, headers: Headers, *flags: str) -> HeadersFrame:
    return HeadersFrame(stream, _block(headers), flags=["END_HEADERS", *flags])


HONEST_H2 = b"".join(
    frame.serialize()
    for frame in (
        SettingsFrame(0),
        SettingsFrame(0, flags=["ACK"]),
        _headers_frame(1, [(b":status", b"%d" % SITE_STATUS), (b"x-site", b"yes")]),
        DataFrame(1, _BODY, flags=["END_STREAM"]),
    )
)


def _odd_frames(drawn: random.Random) -> list[Frame]:
    """Return frames that either side may send, in place or out of it."""
    stream = drawn.choice((0, 1, 2, 3, 5, 2**31 - 1))
    at_least_one = stream or 1
    headers = drawn.choice(_header_lists())
    made: Sequence[Callable[[], Frame]] = (
        lambda: DataFrame(at_least_one, b"data", flags=["END_STREAM"]),
        lambda: _headers_frame(at_least_one, headers, "END_STREAM"),
        lambda: HeadersFrame(at_least_one, _block(headers)[:10]),
        lambda: ContinuationFrame(at_least_one, _block(headers)[10:], flags=["END_HEADERS"]),
        lambda: RstStreamFrame(at_least_one, error_code=drawn.choice((0, 1, 7, 8, 99))),
        lambda: SettingsFrame(
            0,
            settings={
                drawn.choice((1, 2, 3, 4, 5, 6, 99)): drawn.choice((0, 1, 2**31 - 1, 2**32 - 1))
            },
        ),
        lambda: WindowUpdateFrame(stream, window_increment=drawn.choice((1, 2**31 - 1))),
        lambda: PingFrame(0, b"12345678"),
        lambda: PriorityFrame(at_least_one, depends_on=at_least_one, stream_weight=1),
        lambda: GoAwayFrame(
            0, last_stream_id=drawn.choice((0, 1)), error_code=drawn.choice((0, 2))
        ),
        lambda: PushPromiseFrame(1, 2, _block(headers), flags=["END_HEADERS"]),
    )
    return [drawn.choice(made)() for _ in range(drawn.randint(0, 3))]


def _with_mistakes(drawn: random.Random, frames: Sequence[Frame]) -> bytes:
    """Serialize frames; every other time with small mistakes in the bytes."""
    data = b"".join(frame.serialize() for frame in frames)
    return mutated(drawn, data) if drawn.random() < 0.5 else data


# ---- the families


def _http1_request(drawn: random.Random, number: int) -> Case:
    sends = mutated(drawn, drawn.choice(_requests()))
    return Case(number, "http1-request", "http/1.1", sends, HONEST)


def _forwarded(drawn: random.Random, number: int) -> Case:
    return Case(number, "forwarded", "proxy", mutated(drawn, drawn.choice(_FORWARDED)), HONEST)


def _http1_answer(drawn: random.Random, number: int) -> Case:
    answer = mutated(drawn, drawn.choice(_answers()))
    return Case(
        number,
        "http1-answer",
        "http/1.1",
        _REQUESTS[0],
        answer,
        closes=drawn.random() < 0.6,
        honest=False,
    )


def _good_http2() -> bytes:
    frames = (SettingsFrame(0), _headers_frame(1, list(_header_lists()[0]), "END_STREAM"))
    return PREFACE + b"".join(frame.serialize() for frame in frames)


def _http2_request(drawn: random.Random, number: int) -> Case:
    headers = drawn.choice(_header_lists())
    ends = drawn.random() < 0.7
    frames = [SettingsFrame(0), _headers_frame(1, headers, *(["END_STREAM"] if ends else []))]
    if not ends:
        frames.append(DataFrame(1, b"hello", flags=["END_STREAM"]))
    at = drawn.randint(0, len(frames))
    frames[at:at] = _odd_frames(drawn)
    sends = PREFACE + _with_mistakes(drawn, frames)
    return Case(number, "http2-request", "h2", sends, HONEST_H2)


def _http2_answer(drawn: random.Random, number: int) -> Case:
    headers = drawn.choice(_STATUS_LISTS)
    frames: list[Frame] = [
        SettingsFrame(0),
        SettingsFrame(0, flags=["ACK"]),
        _headers_frame(1, headers),
        DataFrame(1, b"site", flags=["END_STREAM"]),
    ]
    at = drawn.randint(0, len(frames))
    frames[at:at] = _odd_frames(drawn)
    answer = _with_mistakes(drawn, frames)
    return Case(
        number,
        "http2-answer",
        "h2",
        _good_http2(),
        answer,
        closes=drawn.random() < 0.5,
        honest=False,
    )


def _websocket(drawn: random.Random, number: int) -> Case:
    asks, answer = _ASKS_SOCKET, drawn.choice(_upgrades())
    frames = b"".join(drawn.choices(_frames(_MASK), k=2))
    site_frames = b"".join(drawn.choices(_frames(b""), k=2))
    match drawn.randrange(5):
        case 0:
            asks = mutated(drawn, asks)
        case 1:
            answer = mutated(drawn, answer)
        case 2:
            frames = mutated(drawn, frames)
        case 3:
            site_frames = mutated(drawn, site_frames)
        case _:
            pass
    answer += site_frames
    return Case(number, "websocket", "http/1.1", asks, answer, then=frames, honest=False)


def _connect(drawn: random.Random, number: int) -> Case:
    return Case(number, "connect", "proxy", mutated(drawn, drawn.choice(_CONNECTS)), HONEST)


def _control(drawn: random.Random, number: int) -> Case:
    return Case(number, "control", "control", mutated(drawn, drawn.choice(_CONTROLS)), b"")


def _tls_hello(drawn: random.Random, number: int) -> Case:
    # The hello itself is made when it is sent: only a library makes one that is whole.
    return Case(number, "tls-client", "tunnel", b"", HONEST)


def _tls_answer(drawn: random.Random, number: int) -> Case:
    return Case(number, "tls-site", "http/1.1", _REQUESTS[0], b"", honest=False)


_FAMILIES: dict[Callable[[random.Random, int], Case], int] = {
    _http1_request: 20,
    _forwarded: 6,
    _http1_answer: 18,
    _http2_request: 18,
    _http2_answer: 12,
    _websocket: 14,
    _connect: 6,
    _control: 3,
    _tls_hello: 4,
    _tls_answer: 2,
}


def case(seed: int, number: int) -> Case:
    """Return a case: always the same for the same two numbers."""
    drawn = drawn_for(seed, number)
    return drawn.choices(list(_FAMILIES), list(_FAMILIES.values()))[0](drawn, number)


def usual(door: Door) -> Case:
    """Return a case without any mistake: a lane that lives answers it as the site does."""
    if door == "h2":
        return Case(0, "usual", door, _good_http2(), HONEST_H2)
    return Case(0, "usual", door, _REQUESTS[0], HONEST)


def drawn_for(seed: int, number: int) -> random.Random:
    """Return where a case's chances come from."""
    return random.Random(f"{seed} {number}")
