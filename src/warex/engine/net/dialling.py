"""Connects to a host by the first of its addresses that answers (RFC 8305)."""

import asyncio
import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import Any, Final

type _Place = tuple[int, tuple[Any, ...]]
"""A family of addresses, and an address of it."""

_EYEBALLS_S: Final = 0.25
"""Seconds before the next address is tried beside one that has not answered."""


async def dial(host: str, port: int) -> socket.socket:
    """Return a connected socket; the message of an OSError is for the user."""
    loop = asyncio.get_running_loop()
    places = _literal(host, port)
    if places is None:
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise OSError(error.strerror or str(error)) from None
        except UnicodeError:
            raise OSError("there is no such host") from None
        places = in_turn((family, address) for family, _, _, _, address in found)
    try:
        if len(places) == 1:
            return await _connect(places[0])
        return await _race(places)
    except OSError as error:
        # Python may add the address to the system's message.
        raise OSError(os.strerror(error.errno) if error.errno else str(error)) from None


def _literal(host: str, port: int) -> list[_Place] | None:
    """Return an IP address without a look-up; None if it is a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError, ValueError):
            socket.inet_pton(family, host)
            return [(family, (host, port))]
    return None


def in_turn(places: Iterable[_Place]) -> list[_Place]:
    """Return the addresses of both families by turns, each once, as they are preferred."""
    families: dict[int, dict[_Place, None]] = {}
    for place in places:
        families.setdefault(place[0], {})[place] = None
    turns = zip_longest(*families.values())
    return [place for place in chain.from_iterable(turns) if place is not None]


async def _race(places: Sequence[_Place]) -> socket.socket:
    """Try an address after another, each beside those that have not answered."""
    waiting = list(places)
    trying: set[asyncio.Task[socket.socket]] = set()
    failure = OSError("it has no address")
    try:
        while waiting or trying:
            if waiting:
                trying.add(asyncio.ensure_future(_connect(waiting.pop(0))))
            patience = _EYEBALLS_S if waiting else None
            done, trying = await asyncio.wait(
                trying, timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                error = task.exception()
                if error is None:
                    trying |= done - {task}
                    return task.result()
                if isinstance(error, OSError):
                    failure = error
        raise failure
    finally:
        for task in trying:
            task.add_done_callback(_close)
            task.cancel()


def _close(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def _connect(place: _Place) -> socket.socket:
    family, address = place
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setblocking(False)
        await asyncio.get_running_loop().sock_connect(opened, address)
    except BaseException:
        opened.close()
        raise
    return opened
