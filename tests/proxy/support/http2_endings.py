"""The ways in which an HTTP/2 site ends its streams and its connection."""

from collections.abc import Callable

from h2.connection import H2Connection
from hyperframe.frame import GoAwayFrame

from tests.proxy.support.origin import Answer, Frames


def answer(conn: H2Connection, stream: int) -> bytes:
    conn.send_headers(stream, [(b":status", b"200")])
    conn.send_data(stream, b"hello", end_stream=True)
    return b""


def in_turn(*turns: Frames, then: Frames = answer) -> Answer:
    """Return a route that uses these endings in turn, and then ``then``."""
    left = list(turns)
    return Answer(frames=lambda conn, stream: (left.pop(0) if left else then)(conn, stream))


def reset(code: int, *, midway: bool = False) -> Frames:
    def frames(conn: H2Connection, stream: int) -> bytes:
        if midway:
            conn.send_headers(stream, [(b":status", b"200")])
            conn.send_data(stream, b"hel")
        conn.reset_stream(stream, code)
        return b""

    return frames


def go_away(code: int, last: Callable[[int], int]) -> Frames:
    def frames(conn: H2Connection, stream: int) -> bytes:
        return bytes(GoAwayFrame(0, last_stream_id=last(stream), error_code=code).serialize())

    return frames


def before(stream: int) -> int:
    return max(0, stream - 2)
