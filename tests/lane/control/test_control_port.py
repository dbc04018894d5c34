"""The port of the control API is there at once; what answers is loaded at the first connection."""

import asyncio
import socket
from typing import Any

import pytest

from warex.errors import InputError
from warex.lane.control import control_port

pytestmark = pytest.mark.wire


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"control port {port} on 127.0.0.1"):
            control_port.bind_control(port)


def test_what_answers_is_loaded_once_and_not_before_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[str] = []

    class Server:
        def __init__(self, episodes: Any, token: str) -> None:
            loaded.append(token)

        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        async def close(self) -> None:
            loaded.append("closed")

    monkeypatch.setattr(control_port, "load_control", lambda: Server)

    async def use() -> None:
        bound = control_port.bind_control(0)
        episodes: Any = None
        async with control_port.serve_control(episodes, bound, "token") as port:
            assert loaded == []
            for _ in range(2):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                assert await reader.read() == b""
                writer.close()

    asyncio.run(use())
    assert loaded == ["token", "closed"]
