"""A client that keeps a proxy busy with units of one kind.

It uses as little CPU as Python allows: one thread, a selector, TLS directly on the socket, one
request prepared in advance with Chromium's headers.

    python -m bench.traffic.load    reads commands from standard input, a line each, until its end:
    connect NAME PROXY PORT N KIND  is ready to load localhost:PORT (PROXY 0: directly) → ok
    turn NAME SECONDS               loads it → answers and seconds

KIND: ``requests``, ``megabytes``, ``events`` on N kept connections, one at a time on each;
``streams``, N at a time on one connection of HTTP/2; ``connections``, each new, with one request.
"""

import selectors
import socket
import ssl
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from bench.traffic.http2 import Requests
from bench.traffic.messages import PATH, Client, EventsClient, MegabyteClient, Unit
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


type Kind = Literal["requests", "streams", "connections", "megabytes", "events"]
_UNITS: Final[dict[str, Callable[[int], Unit]]] = {
    "requests": Client,
    "megabytes": MegabyteClient,
    "events": EventsClient,
}


def unverified_context(protocol: str = "http/1.1") -> ssl.SSLContext:
    """Return a client context for one protocol that does not verify certificates.

    Verification would cost the client time, not the proxies.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context


class Group(Protocol):
    """What loads one candidate in one way."""

    def turn(self, seconds: float) -> int:
        """Load it; return the number of answers, each read to its end.

        Raises OSError for an answer that is not the site's.
        """


class KeptConnections:
    """Connections that are kept, with one request at a time on each."""

    def __init__(self, proxy: int, port: int, number: int, unit: Callable[[int], Unit]) -> None:
        self._selector = selectors.DefaultSelector()
        context = unverified_context()
        for _ in range(number):
            connected = tunnel(proxy, port, context)
            connected.setblocking(False)
            self._selector.register(connected, selectors.EVENT_READ, unit(port))

    def turn(self, seconds: float) -> int:
        """Keep all of them busy."""
        selector = self._selector
        until = time.perf_counter() + seconds
        answers, waiting = 0, 0
        for key in list(selector.get_map().values()):
            _socket(key).send(key.data.request)
            waiting += 1
        while waiting:
            for key, _ in selector.select(30) or _raise_timeout():
                connected = _socket(key)
                try:
                    data = connected.recv(65536)
                    while pending := connected.pending():
                        data += connected.recv(pending)
                except ssl.SSLWantReadError:
                    continue
                if not data:
                    raise ConnectionError("the proxy closed a connection")
                if not key.data.receive(data):
                    continue
                answers += 1
                if time.perf_counter() < until:
                    connected.send(key.data.request)
                else:
                    waiting -= 1
        return answers


class Streams:
    """One connection of HTTP/2, with some requests at a time."""

    def __init__(self, proxy: int, port: int, number: int) -> None:
        self._socket = tunnel(proxy, port, unverified_context("h2"))
        if self._socket.selected_alpn_protocol() != "h2":
            raise ConnectionError("the proxy does not speak HTTP/2")
        self._number = number
        self._http = Requests(port)
        self._socket.sendall(self._http.begin())

    def turn(self, seconds: float) -> int:
        """Keep all streams busy."""
        until = time.perf_counter() + seconds
        self._socket.sendall(b"".join(self._http.request() for _ in range(self._number)))
        answers, waiting = 0, self._number
        while waiting:
            if not (data := self._socket.recv(65536)):
                raise ConnectionError("the proxy closed the connection")
            complete, out = self._http.receive(data)
            answers, waiting = answers + complete, waiting - complete
            if time.perf_counter() < until:
                out += b"".join(self._http.request() for _ in range(complete))
                waiting += complete
            if out:
                self._socket.sendall(out)
        return answers


class FreshConnections:
    """A new connection for each request."""

    def __init__(self, proxy: int, port: int) -> None:
        self._proxy, self._port = proxy, port
        self._context = unverified_context()

    def turn(self, seconds: float) -> int:
        """Make one connection after the other."""
        until = time.perf_counter() + seconds
        answers, unit = 0, Client(self._port)
        while time.perf_counter() < until:
            with tunnel(self._proxy, self._port, self._context) as connected:
                connected.sendall(unit.request)
                while not unit.receive(data := connected.recv(65536)):
                    if not data:
                        raise ConnectionError("the proxy closed a connection")
            answers += 1
        return answers


def _group(kind: str, proxy: int, port: int, number: int) -> Group:
    if kind == "streams":
        return Streams(proxy, port, number)
    if kind == "connections":
        return FreshConnections(proxy, port)
    return KeptConnections(proxy, port, number, _UNITS[kind])


def _socket(key: selectors.SelectorKey) -> ssl.SSLSocket:
    if not isinstance(key.fileobj, ssl.SSLSocket):
        raise TypeError(f"{key.fileobj!r} is not a connection")
    return key.fileobj


def _raise_timeout() -> list[tuple[selectors.SelectorKey, int]]:
    raise ConnectionError("the proxy did not answer for 30 s")


def main() -> None:
    """Execute the commands of standard input."""
    groups: dict[str, Group] = {}
    for line in sys.stdin:
        match line.split():
            case ["connect", name, proxy, port, number, kind]:
                groups[name] = _group(kind, int(proxy), int(port), int(number))
                print("ok", flush=True)
            case ["turn", name, seconds]:
                began = time.perf_counter()
                print(groups[name].turn(float(seconds)), time.perf_counter() - began, flush=True)
            case _:
                raise SystemExit(f"{line!r} is not a command")


if __name__ == "__main__":
    main()
