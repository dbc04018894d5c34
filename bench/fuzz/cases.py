"""The messages of a fuzz run: valid and malformed ones with mutations, drawn from a seed. Pure."""

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
from bench.fuzz.mutate import mutate

SITE_STATUS = 203
"""The status of valid answers, which only the site uses."""
AUTHORITY = b"localhost:00000"
"""A placeholder of the same length as the site's host and port, so that lengths stay right."""
_MAX_SIZE = 100_000
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

type Channel = Literal["http/1.1", "h2", "tunnel", "proxy", "control"]
"""Where the client writes: TLS in a tunnel (by protocol), a tunnel without TLS, the proxy's port,
the control port."""


@dataclass(frozen=True, slots=True)
class Case:
    """The bytes that the client sends and the site answers."""

    number: int
    family: str
    channel: Channel
    sends: bytes
    answer: bytes
    then: bytes = b""
    """Sent by the client after the first bytes of an answer."""
    closes: bool = False
    """Whether the site closes the connection after its answer."""
    valid_answer: bool = True
    """Whether the site's answer is valid."""

    @property
    def may_name_any_host(self) -> bool:
        """Whether a mutation may make the client ask the proxy for any host, not only the site."""
        return self.channel == "proxy"


def _placed(*messages: bytes) -> tuple[bytes, ...]:
    return tuple(message.replace(b"PLACE", AUTHORITY) for message in messages)


_BODY = b"<!doctype html><title>fuzz</title>site"
VALID_ANSWER = (
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
    VALID_ANSWER,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsite\r\n0\r\nX-End: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /\xff\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + VALID_ANSWER,
    b"HTTP/1.1 100 Continue\r\n\r\n" + VALID_ANSWER,
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
    b"GET /socket HTTP/1.1\r\nHost: " + AUTHORITY + b"\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: " + mutants_websocket.KEY.encode() + b"\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
)
_MASK = b"\x01\x02\x03\x04"


@cache
def _requests() -> Sequence[bytes]:
    return (*_REQUESTS, *_bytes_of(mutants_http.requests(AUTHORITY)))


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
    """Return the messages without names, except the largest, which would dominate a run."""
    return [data for _, data in named if len(data) < _MAX_SIZE]


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
    valid = [
        (b":method", b"GET"),
        (b":scheme", b"https"),
        (b":authority", AUTHORITY),
        (b":path", path),
    ]
    return (
        valid,
        [*valid, (b"cookie", b"a=b"), (b"cookie", b"c=d")],
        [*valid[:3], (b":path", b"no-slash")],
        valid[:3],
        [*valid, (b":path", b"/twice")],
        [*valid, (b"host", b"other.example")],
        [*valid[:2], (b":authority", b"user:pw@localhost:99999"), valid[3]],
        [*valid[:2], (b":authority", b"[::1"), valid[3]],
        [*valid[:2], valid[3], (b"host", AUTHORITY)],
        [(b":method", b"CONNECT"), (b":authority", AUTHORITY)],
        [(b":method", b"CONNECT"), (b":protocol", b"websocket"), *valid[1:]],
        [*valid, (b"Upper-Case", b"x")],
        [*valid, (b"connection", b"close"), (b"transfer-encoding", b"chunked")],
        [*valid, (b"te", b"gzip"), (b"content-length", b"5")],
        [*valid, (b"x\x00y", b"a\r\nb: c")],
        [*valid, (b"", b"empty")],
        [*valid, (b"x-long", b"v" * 20_000)],
        [(b":status", b"200"), *valid],
        [(b"x-first", b"1"), *valid],
        [(b":method", b"GE T"), *valid[1:]],
        [valid[0], (b":scheme", b"ftp"), *valid[2:]],
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


VALID_ANSWER_H2 = b"".join(
    frame.serialize()
    for frame in (
        SettingsFrame(0),
        SettingsFrame(0, flags=["ACK"]),
        _headers_frame(1, [(b":status", b"%d" % SITE_STATUS), (b"x-site", b"yes")]),
        DataFrame(1, _BODY, flags=["END_STREAM"]),
    )
)


def _odd_frames(rng: random.Random) -> list[Frame]:
    """Return up to three frames that either side may send, in or out of order."""
    stream = rng.choice((0, 1, 2, 3, 5, 2**31 - 1))
    at_least_one = stream or 1
    headers = rng.choice(_header_lists())
    made: Sequence[Callable[[], Frame]] = (
        lambda: DataFrame(at_least_one, b"data", flags=["END_STREAM"]),
        lambda: _headers_frame(at_least_one, headers, "END_STREAM"),
        lambda: HeadersFrame(at_least_one, _block(headers)[:10]),
        lambda: ContinuationFrame(at_least_one, _block(headers)[10:], flags=["END_HEADERS"]),
        lambda: RstStreamFrame(at_least_one, error_code=rng.choice((0, 1, 7, 8, 99))),
        lambda: SettingsFrame(
            0,
            settings={rng.choice((1, 2, 3, 4, 5, 6, 99)): rng.choice((0, 1, 2**31 - 1, 2**32 - 1))},
        ),
        lambda: WindowUpdateFrame(stream, window_increment=rng.choice((1, 2**31 - 1))),
        lambda: PingFrame(0, b"12345678"),
        lambda: PriorityFrame(at_least_one, depends_on=at_least_one, stream_weight=1),
        lambda: GoAwayFrame(0, last_stream_id=rng.choice((0, 1)), error_code=rng.choice((0, 2))),
        lambda: PushPromiseFrame(1, 2, _block(headers), flags=["END_HEADERS"]),
    )
    return [rng.choice(made)() for _ in range(rng.randint(0, 3))]


def _with_mistakes(rng: random.Random, frames: Sequence[Frame]) -> bytes:
    """Serialize frames; mutate the bytes with probability 1/2."""
    data = b"".join(frame.serialize() for frame in frames)
    return mutate(rng, data) if rng.random() < 0.5 else data


# ---- the families


def _http1_request(rng: random.Random, number: int) -> Case:
    sends = mutate(rng, rng.choice(_requests()))
    return Case(number, "http1-request", "http/1.1", sends, VALID_ANSWER)


def _forwarded(rng: random.Random, number: int) -> Case:
    return Case(number, "forwarded", "proxy", mutate(rng, rng.choice(_FORWARDED)), VALID_ANSWER)


def _http1_answer(rng: random.Random, number: int) -> Case:
    answer = mutate(rng, rng.choice(_answers()))
    return Case(
        number,
        "http1-answer",
        "http/1.1",
        _REQUESTS[0],
        answer,
        closes=rng.random() < 0.6,
        valid_answer=False,
    )


def _good_http2() -> bytes:
    frames = (SettingsFrame(0), _headers_frame(1, list(_header_lists()[0]), "END_STREAM"))
    return PREFACE + b"".join(frame.serialize() for frame in frames)


def _http2_request(rng: random.Random, number: int) -> Case:
    headers = rng.choice(_header_lists())
    ends = rng.random() < 0.7
    frames = [SettingsFrame(0), _headers_frame(1, headers, *(["END_STREAM"] if ends else []))]
    if not ends:
        frames.append(DataFrame(1, b"hello", flags=["END_STREAM"]))
    at = rng.randint(0, len(frames))
    frames[at:at] = _odd_frames(rng)
    sends = PREFACE + _with_mistakes(rng, frames)
    return Case(number, "http2-request", "h2", sends, VALID_ANSWER_H2)


def _http2_answer(rng: random.Random, number: int) -> Case:
    headers = rng.choice(_STATUS_LISTS)
    frames: list[Frame] = [
        SettingsFrame(0),
        SettingsFrame(0, flags=["ACK"]),
        _headers_frame(1, headers),
        DataFrame(1, b"site", flags=["END_STREAM"]),
    ]
    at = rng.randint(0, len(frames))
    frames[at:at] = _odd_frames(rng)
    answer = _with_mistakes(rng, frames)
    return Case(
        number,
        "http2-answer",
        "h2",
        _good_http2(),
        answer,
        closes=rng.random() < 0.5,
        valid_answer=False,
    )


def _websocket(rng: random.Random, number: int) -> Case:
    asks, answer = _ASKS_SOCKET, rng.choice(_upgrades())
    frames = b"".join(rng.choices(_frames(_MASK), k=2))
    site_frames = b"".join(rng.choices(_frames(b""), k=2))
    match rng.randrange(5):
        case 0:
            asks = mutate(rng, asks)
        case 1:
            answer = mutate(rng, answer)
        case 2:
            frames = mutate(rng, frames)
        case 3:
            site_frames = mutate(rng, site_frames)
        case _:
            pass
    answer += site_frames
    return Case(number, "websocket", "http/1.1", asks, answer, then=frames, valid_answer=False)


def _connect(rng: random.Random, number: int) -> Case:
    return Case(number, "connect", "proxy", mutate(rng, rng.choice(_CONNECTS)), VALID_ANSWER)


def _control(rng: random.Random, number: int) -> Case:
    return Case(number, "control", "control", mutate(rng, rng.choice(_CONTROLS)), b"")


def _tls_hello(rng: random.Random, number: int) -> Case:
    # The TLS library makes the hello when it is sent.
    return Case(number, "tls-client", "tunnel", b"", VALID_ANSWER)


def _tls_answer(rng: random.Random, number: int) -> Case:
    return Case(number, "tls-site", "http/1.1", _REQUESTS[0], b"", valid_answer=False)


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
    """Return a case; equal arguments give equal cases."""
    rng = rng_for(seed, number)
    return rng.choices(list(_FAMILIES), list(_FAMILIES.values()))[0](rng, number)


def valid_case(channel: Channel) -> Case:
    """Return a valid request, which a working lane answers as the site does."""
    if channel == "h2":
        return Case(0, "valid", channel, _good_http2(), VALID_ANSWER_H2)
    return Case(0, "valid", channel, _REQUESTS[0], VALID_ANSWER)


def rng_for(seed: int, number: int) -> random.Random:
    """Return the random generator of a case."""
    return random.Random(f"{seed} {number}")
