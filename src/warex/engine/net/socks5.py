"""Asks a SOCKS5 proxy for a tunnel (RFC 1928), with a user name (RFC 1929) or without."""

import ipaddress
from typing import Final

from warex.engine.ends import End
from warex.engine.handler import Address

_NO_AUTHENTICATION, _USER_NAME, _NO_METHOD = 0, 2, 255
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REPLIES: Final = {
    1: "it failed",
    2: "its rules forbid it",
    3: "the network is unreachable",
    4: "the host is unreachable",
    5: "the connection was refused",
    6: "the time is over",
}


async def open_tunnel(end: End, address: Address, user: str | None, password: str) -> None:
    """Have a proxy connect to a site; raise OSError if it does not."""
    methods = [_NO_AUTHENTICATION] if user is None else [_NO_AUTHENTICATION, _USER_NAME]
    end.write(bytes([5, len(methods), *methods]))
    version, method = await _read_exactly(end, 2)
    if version != 5 or method == _NO_METHOD or method not in methods:
        raise OSError("it takes none of our ways to authenticate")
    if method == _USER_NAME:
        end.write(bytes([1]) + _text(user or "") + _text(password))
        _, status = await _read_exactly(end, 2)
        if status:
            raise OSError("it refused the user name or password")
    end.write(bytes([5, 1, 0]) + _destination(address))
    _, reply, _, kind = await _read_exactly(end, 4)
    if reply:
        raise OSError(_REPLIES.get(reply, f"it replied {reply}"))
    length = {_IPV4: 4, _IPV6: 16}.get(kind)
    if length is None:
        (length,) = await _read_exactly(end, 1)
    await _read_exactly(end, length + 2)


def _destination(address: Address) -> bytes:
    port = address.port.to_bytes(2)
    try:
        parsed = ipaddress.ip_address(address.host)
    except ValueError:
        return bytes([_NAME]) + _text(address.host) + port
    return bytes([_IPV4 if parsed.version == 4 else _IPV6]) + parsed.packed + port


def _text(text: str) -> bytes:
    encoded = text.encode()
    if len(encoded) > 255:
        raise OSError("a name is longer than SOCKS5 allows")
    return bytes([len(encoded)]) + encoded


async def _read_exactly(end: End, count: int) -> bytes:
    data = await end.peek(count)
    if len(data) < count:
        raise OSError("it broke off")
    received = await end.read()
    end.unread(received[count:])
    return received[:count]
