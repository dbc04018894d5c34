"""The protocol is detected by the first bytes, and by as few as suffice."""

import pytest

from warex.engine.net.protocol_detection import MAX_PEEK, detect_protocol

_HELLO = bytes((0x16, 0x03, 0x01, 0x02, 0x00, 0x01))
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "protocol"),
    [
        (_HELLO + b"rest", "tls"),
        (b"GET /a HTTP/1.1\r\n", "http"),
        (b"\r\nGET /a HTTP/1.0\r\n", "http"),
        (b"PROPFIND /dav HTTP/1.1\r\n", "http"),
        (b"GET /" + b"a" * 5000, "http"),
        (b"GET http://shop.test/a HTTP/1.1\r\n", "proxied"),
        (b"get HTTP://shop.test/a HTTP/1.1\r\n", "proxied"),
        (b"GET http://shop.test/a", "proxied"),
        (b"OPTIONS * HTTP/1.1\r\n", "http"),
        (b"CONNECT shop.test:443 HTTP/1.1\r\n", "proxied"),
        (_PREFACE, "h2c"),
        (_PREFACE + b"\0\0\0\4", "h2c"),
    ],
)
def test_http_and_tls_are_known(first: bytes, protocol: str) -> None:
    assert detect_protocol(first) == protocol


@pytest.mark.parametrize(
    "first",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"CAP LS 302\r\n",
        b"SET key value\r\n",
        b"get key\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"\0\0\0\x08\x04\xd2\x16/",
        b"GET /index\r\n",
        b"PRI is not a preface\r\n",
        bytes((0x16, 0x03, 0x01, 0x02, 0x00, 0x02)),
        bytes((0x16, 0x04)),
        bytes((0x16, 0x03, 0x09, 0x02, 0x00, 0x01)),
        b"A" * 40,
        b"BREW " + b"a" * MAX_PEEK,
        b"\r\n" * MAX_PEEK,
    ],
)
def test_other_protocols_are_not_taken_for_http(first: bytes) -> None:
    assert detect_protocol(first) == "other"


@pytest.mark.parametrize("full", [_HELLO, b"PROPFIND /dav HTTP/1.1\r\n", _PREFACE])
def test_a_beginning_that_may_become_either_is_waited_for(full: bytes) -> None:
    detected = [detect_protocol(full[:length]) for length in range(len(full) + 1)]
    undecided = detected.index(next(it for it in detected if it))
    assert detected[:undecided] == [None] * undecided
    assert detect_protocol(b"CONNECT sh") is None
    assert "other" not in detected
