"""The port of the control API.

What answers there is loaded at the first connection: few trials are controlled, and each would
begin later.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from warex.errors import InputError
from warex.lane.episodes.episodes import Episodes

if TYPE_CHECKING:
    from warex.lane.control.control_server import ControlServer


def bind_control(port: int) -> socket.socket:
    """Bind a port on loopback, 0 for any; raise InputError if it is not available."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise InputError(
            f"control port {port} on 127.0.0.1 is not available: {error.strerror}; give another"
            " one, or 0 for any that is free"
        ) from None


def load_control() -> "type[ControlServer]":
    """Load what answers."""
    from warex.lane.control.control_server import ControlServer

    return ControlServer


@asynccontextmanager
async def serve_control(episodes: Episodes, bound: socket.socket, token: str) -> AsyncIterator[int]:
    """Serve the API of a process's trials on a bound socket; yield its port."""
    serving: ControlServer | None = None

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal serving
        serving = serving or load_control()(episodes, token)
        await serving.serve(reader, writer)

    port: int = bound.getsockname()[1]
    server = await asyncio.start_server(serve, sock=bound)
    try:
        yield port
    finally:
        server.close()
        if serving is not None:
            await serving.close()
