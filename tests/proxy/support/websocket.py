"""A WebSocket site that sends every message back."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from websockets.sync.server import ServerConnection, serve


@contextmanager
def echo_site(tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve on a port of loopback; yield the port."""

    def echo(channel: ServerConnection) -> None:
        for message in channel:
            channel.send(message)

    with serve(echo, "127.0.0.1", 0, ssl=tls) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join(5)
