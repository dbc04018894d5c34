"""What answers at the port of the control API is loaded at its first connection."""

import asyncio

import pytest

from warex.errors import InputError
from warex.lane.control import control_port
from warex.lane.control.control_port import bind_control, serve_control


class Answering:
    """Answers with how often it was made."""

    made = 0

    def __init__(self, episodes: object, token: str) -> None:
        Answering.made += 1

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"%d" % Answering.made)
        writer.close()

    async def close(self) -> None: ...


@pytest.mark.wire
async def test_what_answers_is_loaded_once_and_not_before_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(control_port, "load_control", lambda: Answering)
    monkeypatch.setattr(Answering, "made", 0)

    async with serve_control(None, bind_control(0), "token") as port:  # type: ignore[arg-type]
        assert Answering.made == 0
        for _ in range(2):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await reader.read() == b"1"
            writer.close()
            await writer.wait_closed()


@pytest.mark.wire
def test_a_port_in_use_is_a_sentence() -> None:
    with bind_control(0) as bound, pytest.raises(InputError, match="cannot be had"):
        bind_control(bound.getsockname()[1])
