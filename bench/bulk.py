"""Bytes in bulk that are no HTTP: a site that sends them, a relay to compare with, a client.

python -m bench.bulk site          sends as many bytes as its client's first eight say
python -m bench.bulk relay PORT    relays to that port as asyncio's streams do it; prints its own
python -m bench.bulk client        by the line: ``pull PORT MEGABYTES`` → megabytes per second
"""

import asyncio
import socket
import sys
import threading
import time
from contextlib import suppress

_PIECE = memoryview(bytes(1 << 20))


def _site() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        threading.Thread(target=_accept, args=(listener,), daemon=True).start()
        sys.stdin.read()


def _accept(listener: socket.socket) -> None:
    while True:
        client, _ = listener.accept()
        threading.Thread(target=_send, args=(client,), daemon=True).start()


def _send(client: socket.socket) -> None:
    with client, suppress(OSError):
        left = int.from_bytes(client.recv(8, socket.MSG_WAITALL))
        while left > 0:
            left -= client.send(_PIECE[: min(left, len(_PIECE))])


async def _relay(port: int) -> None:
    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection("127.0.0.1", port)
        with suppress(OSError):
            await asyncio.gather(pump(reader, here), pump(there, writer))
        here.close()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


def _pull(port: int, megabytes: int) -> float:
    size, buffer = megabytes << 20, bytearray(1 << 20)
    with socket.create_connection(("127.0.0.1", port)) as opened:
        began = time.perf_counter()
        opened.sendall(size.to_bytes(8))
        left = size
        while left > 0:
            if not (count := opened.recv_into(buffer)):
                raise ConnectionError(f"{left} bytes did not come")
            left -= count
        return megabytes / (time.perf_counter() - began)


def _client() -> None:
    for line in sys.stdin:
        _, port, megabytes = line.split()
        print(f"{_pull(int(port), int(megabytes)):.1f}", flush=True)


def main() -> None:
    """Be what the command line says."""
    match sys.argv[1:]:
        case ["site"]:
            _site()
        case ["relay", port]:
            asyncio.run(_relay(int(port)))
        case ["client"]:
            _client()
        case other:
            raise SystemExit(f"{other!r} is nothing to be")


if __name__ == "__main__":
    main()
