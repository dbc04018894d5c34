"""WebSocket sites: one that sends every message back, and one with given answers."""

import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve


@contextmanager
def echo_site(tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve on a port of loopback; yield the port."""
    with answering_site(lambda message: [message], tls) as port:
        yield port


@contextmanager
def answering_site(
    answer: Callable[[str | bytes], Iterable[str | bytes]], tls: ssl.SSLContext | None = None
) -> Iterator[int]:
    """Serve on a port of loopback and answer messages with ``answer``; yield the port.

    An empty answer closes the socket.
    """

    def reply(channel: ServerConnection) -> None:
        for message in channel:
            answers = list(answer(message))
            for one in answers:
                channel.send(one)
            if not answers:
                return

    with serving(reply, tls) as port:
        yield port


@contextmanager
def serving(
    answer: Callable[[ServerConnection], None],
    tls: ssl.SSLContext | None = None,
    process_request: Callable[[ServerConnection, Request], Response | None] | None = None,
) -> Iterator[int]:
    """Serve on a port of loopback, each WebSocket by ``answer``; yield the port."""
    with serve(answer, "127.0.0.1", 0, ssl=tls, process_request=process_request) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join(5)
