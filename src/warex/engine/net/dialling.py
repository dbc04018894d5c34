"""Connects to a host by the first of its addresses that answers (RFC 8305)."""

import asyncio
import errno
import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import Any, Final

type _Place = tuple[int, tuple[Any, ...]]
"""A family of addresses, and an address of it."""

_KNOWN_S: Final = 10.0
"""Seconds for which a name is not looked up again; browsers take a minute."""
_MOST_KNOWN: Final = 256
_PATIENCE_S: Final = 1.0
"""Seconds after which an address that had answered is given up."""
_IN_PROGRESS: Final = frozenset((errno.EINPROGRESS, errno.EALREADY))
_EYEBALLS_S: Final = 0.25
"""Seconds before the next address is tried beside one that has not answered."""


class Dialler:
    """Connects, and looks a name up once for the connections that follow soon."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], tuple[float, _Place]] = {}
        """Until when the address is used that has answered last."""

    async def dial(self, host: str, port: int) -> socket.socket:
        """Return a connected socket; the ``strerror`` of an OSError is for the user."""
        try:
            if (host, port) not in self._known and (places := _literal(host, port)) is not None:
                return await _connect(places[0])
            return await self._dial_name((host, port))
        except socket.gaierror:
            raise
        except OSError as error:
            if not error.errno:
                raise
            # Python may add the address to the system's message.
            raise OSError(error.errno, os.strerror(error.errno)) from None

    async def _dial_name(self, name: tuple[str, int]) -> socket.socket:
        now = asyncio.get_running_loop().time()
        until, known = self._known.pop(name, (0.0, None))
        if known is not None and until > now:
            with suppress(OSError):  # The address may be gone, or silent.
                opened = await _connect(known, _PATIENCE_S)
                self._known[name] = until, known
                return opened
        opened, known = await _race(await _look_up(*name))
        if len(self._known) >= _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[name] = now + _KNOWN_S, known
        return opened


async def _look_up(host: str, port: int) -> list[_Place]:
    loop = asyncio.get_running_loop()
    try:
        results = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise socket.gaierror(socket.EAI_NONAME, "there is no such host") from None
    return in_turn((family, address) for family, _, _, _, address in results)


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


async def _race(places: Sequence[_Place]) -> tuple[socket.socket, _Place]:
    """Try an address after another, each beside those that have not answered."""
    if len(places) == 1:
        return await _connect(places[0]), places[0]
    waiting = list(places)
    trying: dict[asyncio.Task[socket.socket], _Place] = {}
    failure = OSError("it has no address")
    try:
        while waiting or trying:
            if waiting:
                place = waiting.pop(0)
                trying[asyncio.ensure_future(_connect(place))] = place
            patience = _EYEBALLS_S if waiting else None
            done, _ = await asyncio.wait(
                trying, timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                place = trying.pop(task)
                error = task.exception()
                if error is None:
                    return task.result(), place
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


async def _connect(place: _Place, patience: float | None = None) -> socket.socket:
    family, address = place
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setblocking(False)
        failure = opened.connect_ex(address)
        if failure == errno.EINPROGRESS:
            # On the same machine it has been established meanwhile.
            failure = opened.connect_ex(address)
        if failure in _IN_PROGRESS:
            async with asyncio.timeout(patience):
                await asyncio.get_running_loop().sock_connect(opened, address)
        elif failure and failure != errno.EISCONN:
            raise OSError(failure, os.strerror(failure))
    except BaseException:
        opened.close()
        raise
    return opened
