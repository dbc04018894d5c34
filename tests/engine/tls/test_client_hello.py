import ssl
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.handler import ClientHello
from warex.engine.tls.client_hello import (
    MAX_CLIENT_HELLO,
    NoClientHello,
    read_client_hello,
)


@cache
def hello(name: str | None = "Shop.example", protocols: tuple[str, ...] = ()) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    if name is None:
        context.verify_mode = ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


def test_name_protocols_and_ciphers_are_read() -> None:
    read = read_client_hello(hello("Shop.example", ("h2", "http/1.1")))
    assert read is not None
    assert (read.sni, read.alpn) == ("shop.example", (b"h2", b"http/1.1"))
    assert 0x1301 in read.cipher_suites


def test_a_client_may_name_nothing() -> None:
    read = read_client_hello(hello(None))
    assert read is not None
    assert (read.sni, read.alpn) == ("", ())


def test_an_encrypted_hello_is_read_by_its_outer_name() -> None:
    read = read_client_hello(with_extension(hello("Shop.example"), 0xFE0D, bytes(200)))
    assert read is not None
    assert read.sni == "shop.example"


def with_extension(raw: bytes, number: int, content: bytes) -> bytes:
    """Return a ClientHello of one record with a further extension (RFC 8446 §4.1.2)."""
    body = raw[9:]
    ciphers = 35 + body[34]
    methods = ciphers + 2 + int.from_bytes(body[ciphers : ciphers + 2])
    extensions = methods + 1 + body[methods]
    added = number.to_bytes(2) + len(content).to_bytes(2) + content
    listed = body[extensions + 2 :] + added
    body = body[:extensions] + len(listed).to_bytes(2) + listed
    message = b"\x01" + len(body).to_bytes(3) + body
    return raw[:3] + len(message).to_bytes(2) + message


def test_every_beginning_needs_more() -> None:
    raw = hello()
    assert [read_client_hello(raw[:cut]) for cut in range(len(raw))] == [None] * len(raw)


def test_a_hello_may_be_cut_into_records() -> None:
    message = hello()[5:]
    pieces = [message[at : at + 7] for at in range(0, len(message), 7)]
    raw = b"".join(b"\x16\x03\x01" + len(it).to_bytes(2) + it for it in pieces)
    assert read_client_hello(raw) == read_client_hello(hello()) or isinstance(
        read_client_hello(raw), ClientHello
    )


@pytest.mark.parametrize(
    "raw",
    [
        b"\x17\x03\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",
    ],
)
def test_what_is_not_a_client_hello_is_refused(raw: bytes) -> None:
    with pytest.raises(NoClientHello):
        read_client_hello(raw)


@given(st.binary(max_size=400), st.integers(0, 300))
def test_no_bytes_break_it(noise: bytes, at: int) -> None:
    raw = hello()
    for data in (noise, b"\x16\x03\x01" + noise, raw[:at] + noise, raw[:at] + noise + raw[at:]):
        try:
            read_client_hello(data)
        except NoClientHello:
            continue


def test_an_endless_hello_is_refused() -> None:
    record = b"\x16\x03\x01\x00\x04\x01\x00\xff\xf0"
    with pytest.raises(NoClientHello):
        read_client_hello(record + b"\x16\x03\x01\x40\x00" + b"x" * MAX_CLIENT_HELLO)
