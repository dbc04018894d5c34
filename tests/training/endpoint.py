"""An endpoint of OpenAI's chat completions with prepared answers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

CHOICE = {"choices": [{"message": {"role": "assistant", "content": "reload()"}}]}


class Endpoint(BaseHTTPRequestHandler):
    """Sends a prepared answer, and keeps the requests."""

    answers: ClassVar[list[tuple[int, Any]]] = []
    asked: ClassVar[list[dict[str, Any]]] = []
    keys: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append(json.loads(body))
        self.keys.append(self.headers["Authorization"])
        status, said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@contextmanager
def endpoint() -> Iterator[str]:
    """Serve it; give its base URL."""
    Endpoint.answers[:], Endpoint.asked[:], Endpoint.keys[:] = [(200, CHOICE)], [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
