"""A client that keeps connections busy, each with one request at a time.

It uses as little CPU as Python allows: one thread, a selector, TLS directly on the socket, one
request prepared in advance with Chromium's headers.

    python -m bench.traffic.load   reads commands from standard input, one per line, until its end:
    connect NAME PROXY PORT N      opens N connections to localhost:PORT (PROXY 0: directly) → ok
    turn NAME SECONDS              keeps them busy → answers and seconds
"""

import selectors
import socket
import ssl
import sys
import time
from dataclasses import dataclass

from bench.traffic.messages import PATH, Client
from bench.traffic.programs import Program
from bench.workspace import HOST


@dataclass(frozen=True, slots=True)
class Turn:
    """The number of answers, and the seconds that they took."""

    answers: int
    seconds: float

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.answers / self.seconds


def turn(client: Program, name: str, seconds: float) -> Turn:
    """Make a client program keep a group of its connections busy."""
    answers, took = client.ask(f"turn {name} {seconds}").split()
    return Turn(int(answers), float(took))


def url(port: int) -> str:
    """Return the URL that a client requests from a site on this port."""
    return f"https://{HOST}:{port}{PATH}"


def tunnel(proxy: int, port: int, context: ssl.SSLContext) -> ssl.SSLSocket:
    """Connect to localhost:PORT over TLS, through the proxy on that port unless it is 0."""
    raw = socket.create_connection(("127.0.0.1", proxy or port), timeout=30)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if proxy:
        raw.sendall(f"CONNECT {HOST}:{port} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            if not (more := raw.recv(4096)):
                raise ConnectionError(f"the proxy on port {proxy} refused to connect: {head!r}")
            head += more
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise ConnectionError(f"the proxy on port {proxy} refused to connect: {head!r}")
    return context.wrap_socket(raw, server_hostname=HOST)


def unverified_context() -> ssl.SSLContext:
    """Return a client context for HTTP/1.1 that does not verify certificates.

    Verification would cost the client time, not the proxies.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


class Load:
    """Named groups of connections, each to one candidate."""

    def __init__(self) -> None:
        self._context = unverified_context()
        self._groups: dict[str, selectors.BaseSelector] = {}

    def connect(self, name: str, proxy: int, port: int, number: int) -> None:
        """Open the connections of a group."""
        selector = selectors.DefaultSelector()
        for _ in range(number):
            connected = tunnel(proxy, port, self._context)
            connected.setblocking(False)
            selector.register(connected, selectors.EVENT_READ, Client(port))
        self._groups[name] = selector

    def turn(self, name: str, seconds: float) -> Turn:
        """Keep a group busy; return the number of its answers.

        Raises ConnectionError for an answer that is not the site's.
        """
        selector = self._groups[name]
        began = time.perf_counter()
        until = began + seconds
        answers, waiting = 0, 0
        for key in list(selector.get_map().values()):
            _socket(key).send(key.data.request)
            waiting += 1
        while waiting:
            for key, _ in selector.select(30) or _raise_timeout(name):
                connected = _socket(key)
                try:
                    data = connected.recv(65536)
                except ssl.SSLWantReadError:
                    continue
                if not data:
                    raise ConnectionError(f"{name} closed a connection")
                if not key.data.receive(data):
                    continue
                answers += 1
                if time.perf_counter() < until:
                    connected.send(key.data.request)
                else:
                    waiting -= 1
        return Turn(answers, time.perf_counter() - began)


def _socket(key: selectors.SelectorKey) -> ssl.SSLSocket:
    if not isinstance(key.fileobj, ssl.SSLSocket):
        raise TypeError(f"{key.fileobj!r} is no connection")
    return key.fileobj


def _raise_timeout(name: str) -> list[tuple[selectors.SelectorKey, int]]:
    raise ConnectionError(f"{name} did not answer for 30 s")


def main() -> None:
    """Execute the commands of standard input."""
    load = Load()
    for line in sys.stdin:
        match line.split():
            case ["connect", name, proxy, port, number]:
                load.connect(name, int(proxy), int(port), int(number))
                print("ok", flush=True)
            case ["turn", name, seconds]:
                done = load.turn(name, float(seconds))
                print(done.answers, done.seconds, flush=True)
            case _:
                raise SystemExit(f"{line!r} is no command")


if __name__ == "__main__":
    main()
