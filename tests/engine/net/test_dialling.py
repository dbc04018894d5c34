"""A host is reached by the first of its addresses that answers."""

import asyncio
import socket
from typing import Any

import pytest

from tests.ports import reserved_port
from warex.engine.net.dialling import Dialler, in_turn


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: tuple[str, int]) -> None:
    """Let every name have these addresses."""

    async def resolve(*_: object, **__: object) -> list[tuple[Any, ...]]:
        return [
            (
                socket.AF_INET6 if ":" in host else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (host, port),
            )
            for host, port in addresses
        ]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)


def test_families_take_turns() -> None:
    four, six = socket.AF_INET, socket.AF_INET6
    result = [(six, ("a", 1)), (six, ("b", 1)), (four, ("c", 1)), (six, ("a", 1))]
    assert in_turn(result) == [(six, ("a", 1)), (four, ("c", 1)), (six, ("b", 1))]


async def test_an_address_that_refuses_is_followed_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        resolving(monkeypatch, ("127.0.0.1", reserved_port()), server.getsockname())
        with await Dialler().dial("shop.example", 1) as opened:
            assert opened.getpeername() == server.getsockname()


async def test_an_address_that_is_silent_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        # TEST-NET-1 answers nothing (RFC 5737), or is unreachable.
        resolving(monkeypatch, ("192.0.2.1", 443), server.getsockname())
        async with asyncio.timeout(5):
            with await Dialler().dial("shop.example", 1) as opened:
                assert opened.getpeername() == server.getsockname()
        await asyncio.sleep(0)


async def test_the_last_failure_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ("127.0.0.1", reserved_port()), ("127.0.0.1", reserved_port()))
    with pytest.raises(OSError, match="Connection refused"):
        await Dialler().dial("shop.example", 1)
    with pytest.raises(OSError, match="Connection refused"):
        await Dialler().dial("127.0.0.1", reserved_port())


async def test_a_name_that_cannot_be_looked_up_is_reported() -> None:
    for name in ("a..b", "x" * 300):
        with pytest.raises(OSError, match=r"no such host|not known|Name"):
            await Dialler().dial(name, 1)


async def test_a_cancelled_dialling_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ("192.0.2.1", 443), ("192.0.2.2", 443))
    dialling = asyncio.ensure_future(Dialler().dial("shop.example", 1))
    await asyncio.sleep(0.05)
    dialling.cancel()
    with pytest.raises((asyncio.CancelledError, OSError)):
        await dialling
    await asyncio.sleep(0)


async def test_a_name_is_looked_up_once_for_connections_soon_after_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        resolving(monkeypatch, ("127.0.0.1", reserved_port()), server.getsockname())
        dialler = Dialler()
        (await dialler.dial("shop.example", 1)).close()
        resolving(monkeypatch)
        for _ in range(2):
            with await dialler.dial("shop.example", 1) as opened:
                assert opened.getpeername() == server.getsockname()
        with pytest.raises(OSError, match="no address"):
            await dialler.dial("other.example", 1)


async def test_a_name_whose_address_is_gone_is_looked_up_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialler = Dialler()
    with socket.create_server(("127.0.0.1", 0)) as server:
        resolving(monkeypatch, server.getsockname())
        (await dialler.dial("shop.example", 1)).close()
    with socket.create_server(("127.0.0.1", 0)) as server:
        resolving(monkeypatch, server.getsockname())
        with await dialler.dial("shop.example", 1) as opened:
            assert opened.getpeername() == server.getsockname()
