"""Streams that are read and written by threads."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from fcntl import F_GETPIPE_SZ, fcntl
from pathlib import Path

import pytest

from warex.sandbox.stdio.pipes import PipeWriter, read_pipe


async def read(fd: int, take: Callable[[bytes], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        await read_pipe(fd, take)


def test_a_file_is_read_to_its_end_like_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    pieces: list[bytes] = []

    async def take(piece: bytes) -> bool:
        pieces.append(piece)
        return True

    asyncio.run(read(os.open(tmp_path / "file", os.O_RDONLY), take))
    assert b"".join(pieces) == b"x" * 100_000
    assert pieces[-1] == b""


def test_a_closed_reader_is_reported_to_the_writer() -> None:
    async def run() -> None:
        source, sink = os.pipe()

        async def take(piece: bytes) -> bool:
            return False

        os.write(sink, b"first")
        await read(source, take)
        writer = PipeWriter(sink)
        async with asyncio.timeout(20):
            while await writer.write(b"more"):
                pass
        assert writer.is_broken
        assert not await writer.write(b"more")
        writer.close()

    asyncio.run(run())


def test_an_error_of_the_receiver_of_pieces_is_reported() -> None:
    async def take(piece: bytes) -> bool:
        raise LookupError("ours")

    source, sink = os.pipe()
    os.close(sink)
    with pytest.raises(LookupError, match="ours"):
        asyncio.run(read(source, take))


def test_a_write_is_done_once_the_pipe_has_taken_it() -> None:
    async def run() -> None:
        source, sink = os.pipe()
        writer = PipeWriter(sink)
        written = asyncio.ensure_future(writer.write(b"x" * 1_000_000))
        size = 0

        async def take(piece: bytes) -> bool:
            nonlocal size
            size += len(piece)
            return True

        reading = asyncio.ensure_future(read(source, take))
        assert await written
        # The rest is in the pipe, or read but not yet taken.
        assert size >= 1_000_000 - fcntl(sink, F_GETPIPE_SZ) - 64 * 1024
        writer.close()
        await reading
        assert size == 1_000_000

    asyncio.run(run())
