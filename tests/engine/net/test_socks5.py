"""The bytes of SOCKS5; test_connector.py speaks to a proxy."""

import asyncio
import socket

import pytest

from warex.engine.ends import End
from warex.engine.handler import Address
from warex.engine.net.socks5 import open_tunnel


async def asked(address: Address, replies: bytes, user: str | None = None) -> bytes:
    """Return what a proxy is sent that replies so."""
    ours, theirs = socket.socketpair()
    end = End(ours)
    with theirs:
        theirs.sendall(replies)
        theirs.shutdown(socket.SHUT_WR)
        try:
            async with asyncio.timeout(5):
                await open_tunnel(end, address, user, "secret")
        finally:
            await end.flush()
            end.abort()
            await asyncio.sleep(0)
        return theirs.recv(4096)


GRANTED = b"\x05\x00" + b"\x05\x00\x00\x01" + bytes(6)


@pytest.mark.parametrize(
    ("host", "destination"),
    [
        ("shop.example", b"\x03\x0cshop.example"),
        ("192.0.2.1", b"\x01\xc0\x00\x02\x01"),
        ("2001:db8::1", b"\x04" + socket.inet_pton(socket.AF_INET6, "2001:db8::1")),
    ],
)
async def test_a_host_is_named_by_its_kind(host: str, destination: bytes) -> None:
    sent = await asked(Address(host, 443), GRANTED)
    assert sent == b"\x05\x01\x00" + b"\x05\x01\x00" + destination + b"\x01\xbb"


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        (b"", "broke off"),
        (b"\x05\xff", "none of our ways"),
        (b"\x05\x02", "none of our ways"),
        (b"\x04\x00", "none of our ways"),
        (b"\x05\x00\x05\x05\x00\x01", "refused"),
        (b"\x05\x00\x05\x63\x00\x01", "replied 99"),
        (b"\x05\x00\x05\x00\x00\x01\x00", "broke off"),
    ],
)
async def test_what_a_proxy_refuses_is_an_error(replies: bytes, message: str) -> None:
    with pytest.raises(OSError, match=message):
        await asked(Address("shop.example", 443), replies)


async def test_a_name_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(OSError, match="longer than SOCKS5 allows"):
        await asked(Address("x" * 256, 443), GRANTED)
