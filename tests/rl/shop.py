"""A shop of one episode, which tells what was put into it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Shop(ThreadingHTTPServer):
    """What was put into the basket, and the cookies of the clients.

    ``/put?who=X`` puts X into the basket and sets the cookie ``who``; each answer is the basket.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.basket: list[str] = []
        self.cookies: set[str] = set()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        shop = self.server
        assert isinstance(shop, Shop)
        shop.cookies.add(self.headers.get("cookie", ""))
        url = urlsplit(self.path)
        who = parse_qs(url.query).get("who", [""])[0]
        if url.path == "/put":
            shop.basket.append(who)
        body = json.dumps(shop.basket).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if url.path == "/put":
            self.send_header("set-cookie", f"who={who}; Path=/")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served_shop() -> Iterator[Shop]:
    """Serve a new shop on a port of its own."""
    with Shop() as shop:
        Thread(target=shop.serve_forever, daemon=True).start()
        try:
            yield shop
        finally:
            shop.shutdown()
