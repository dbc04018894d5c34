"""Peers that send without end, and a watch on the lane between them."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

import httpx

from tests.proxy.support.lanes import Lane, wait_until
from tests.proxy.support.origin import Origin

STALLED_S: Final = 1.0
"""Seconds after which a peer that takes no more is taken to have stopped."""


def flood(peer: socket.socket, piece: bytes, size: int) -> int:
    """Send a piece again and again until it is ``size`` bytes, or the peer takes no more."""
    peer.settimeout(STALLED_S)
    sent = 0
    with suppress(OSError):
        while sent < size:
            sent += peer.send(piece)
    return sent


def drain(peer: socket.socket) -> None:
    """Read until the peer ends, in whichever way, and keep nothing; it may not be silent."""
    with suppress(ConnectionError):
        while peer.recv(1 << 18):
            pass


class EndlessSite:
    """Reads a request's head, then sends a beginning, and one piece without end.

    Without a piece it reads what comes, or leaves it unread.
    """

    def __init__(
        self, start: bytes, piece: bytes = b"", size: int = 0, *, reads: bool = True
    ) -> None:
        self._start, self._piece, self._size, self._reads = start, piece, size, reads
        self.sent = self.received = self.stopped = 0
        self._over = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(5)

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(10)
            got = b""
            while b"\r\n\r\n" not in got:
                data = client.recv(65536)
                if not data:
                    return
                got += data
            client.sendall(self._start)
            if self._piece:
                self.sent += flood(client, self._piece, self._size)
                self.stopped += 1
            elif self._reads:
                while data := client.recv(65536):
                    self.received += len(data)
            else:
                self._over.wait(20)


@dataclass(slots=True)
class Watch:
    """What a lane took while it was watched."""

    before: int
    most: int = 0
    answers: int = 0
    longest_s: float = 0

    @property
    def grown(self) -> int:
        """Bytes by which the lane's own memory has grown at most."""
        return self.most - self.before


@contextmanager
def watching(lane: Lane, plain: Origin) -> Iterator[Watch]:
    """Ask a calm site through a lane all the time, and look at the lane's memory."""
    over = threading.Event()
    failures: list[Exception] = []
    url = f"http://127.0.0.1:{plain.port}/calm"
    with httpx.Client(proxy=lane.url, timeout=20) as client:
        assert client.get(url).status_code == 200
        watch = Watch(private(lane.proxy.pid))

        def run() -> None:
            try:
                while not over.is_set():
                    began = time.monotonic()
                    assert client.get(url).content == b"hello"
                    watch.longest_s = max(watch.longest_s, time.monotonic() - began)
                    watch.answers += 1
                    watch.most = max(watch.most, private(lane.proxy.pid))
                    over.wait(0.005)
            except Exception as error:  # noqa: BLE001 - raised again at the end
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield watch
            wait_until(lambda: watch.answers or failures)
        finally:
            over.set()
            thread.join(30)
    assert failures == [], failures
    assert lane.proxy.broken is None, lane.proxy.broken


def private(pid: int) -> int:
    """Bytes of memory that are a process's own."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("Private_Dirty:"):
                return int(line.split()[1]) * 1024
    raise ValueError(pid)
