"""Receives the report that an agent has ended, as WAREX does."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest


@dataclass
class Asked:
    """An address, and the paths that were asked for there."""

    address: str = ""
    paths: list[str] = field(default_factory=list)


@pytest.fixture
def asked() -> Iterator[Asked]:
    asked = Asked()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.paths.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        asked.address = f"http://127.0.0.1:{server.server_address[1]}/n0nce"
        yield asked
        server.shutdown()
