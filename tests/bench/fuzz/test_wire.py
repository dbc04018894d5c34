import hpack
import pytest
from bench.fuzz.cases import Case
from bench.fuzz.wire import Received, parse
from hyperframe.frame import DataFrame, HeadersFrame, SettingsFrame


def _answer(*fields: tuple[str, str]) -> bytes:
    headers = HeadersFrame(1, data=hpack.Encoder().encode(fields), flags=["END_HEADERS"])
    body = DataFrame(1, data=b"body", flags=["END_STREAM"])
    return SettingsFrame(0).serialize() + headers.serialize() + body.serialize()


def _parsed(raw: bytes) -> Received:
    received = Received(Case(1, "http2-answer", "h2", b"", b""))
    parse(received, raw)
    return received


def test_an_answer_over_http2_is_read() -> None:
    received = _parsed(_answer((":status", "203"), ("x-a", "b")))
    assert received.statuses == [203]
    assert received.data.endswith(b"x-a: b\r\nbody")


@pytest.mark.parametrize("status", ["", "abc", "2x0", "20\xb3", "2 3", "99", "1000"])
def test_an_answer_without_a_status_is_reported_as_such(status: str) -> None:
    received = _parsed(_answer((":status", status)))
    assert received.statuses == []
    assert received.unreadable == [status.encode()]


def test_no_end_of_the_bytes_breaks_the_reader() -> None:
    full = _answer((":status", "203"), ("x-a", "b"))
    for end in range(len(full)):
        _parsed(full[:end])
