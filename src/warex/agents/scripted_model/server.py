"""The HTTP server of the scripted model; personas keep no state between requests."""

import json
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Final

from warex.agents.scripted_model import wire
from warex.agents.scripted_model.persona import reply
from warex.agents.scripted_model.playbook import PlaybookPlayer, ScriptedAnswer
from warex.agents.scripted_model.reading import read
from warex.agents.scripted_model.tasks import Tasks
from warex.llm.base import SerializedAnswer

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of a request's body that are read."""

JSON: Final = MappingProxyType({"content-type": "application/json"})

IDLE = 300.0
"""Seconds after which an unused connection is closed."""


class ScriptedModel(ThreadingHTTPServer):
    """An endpoint of each API for some tasks, or a playbook, on `server_port`."""

    daemon_threads = True
    # A client that leaves a connection open must not delay the end.
    block_on_close = False

    def __init__(
        self, script: Tasks | PlaybookPlayer, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        """Bind; port 0 takes a free one. Raises OSError if the address cannot be used."""
        self.script = script
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind without the reverse name look-up of the standard library, which may take long."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing for clients that hang up."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedModel
    protocol_version = "HTTP/1.1"
    timeout = IDLE
    # Nagle's algorithm would delay each small answer by 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self._path() == "/v1/models":
            names = list(wire.MODELS) if isinstance(self.server.script, Tasks) else ["playbook"]
            self._send(200, json.dumps(wire.models(names)).encode())
        else:
            self._refuse(wire.BadRequest(404, f"There is no GET {self._path()}."))

    def do_POST(self) -> None:
        try:
            # Also for a wrong path, since the next request follows on the connection.
            body = self._body()
            # A playbook may replace any host, under any prefix.
            any_model = isinstance(self.server.script, PlaybookPlayer)
            asked = wire.parse_request(self.path, body, any_model=any_model)
        except wire.BadRequest as refused:
            self._refuse(refused)
            return
        written = wire.serialize_answer(asked, self._answer(asked))
        if asked.request.stream:
            self._stream(written)
        else:
            self._send(written.status, written.body, written.headers)

    def _answer(self, asked: wire.ApiRequest) -> ScriptedAnswer:
        script = self.server.script
        if isinstance(script, PlaybookPlayer):
            return script.answer(asked.id, asked.messages)
        assert asked.persona is not None
        return ScriptedAnswer(reply(asked.persona, read(asked.messages), script))

    def _path(self) -> str:
        return self.path.split("?", 1)[0]

    def _body(self) -> bytes:
        announced = self.headers.get("Content-Length", "")
        # Python refuses to read a number of thousands of digits.
        is_number = announced.isdecimal() and len(announced) < 20
        if not is_number or int(announced) > LARGEST_BODY:
            # It is unknown where the next request begins.
            self.close_connection = True
            raise wire.BadRequest(
                400, f"Content-Length is {announced!r}, not a number up to {LARGEST_BODY}."
            )
        return self.rfile.read(int(announced))

    def _refuse(self, refused: wire.BadRequest) -> None:
        self._send(refused.status, json.dumps(refused.body).encode())

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] = JSON) -> None:
        connection = {"Connection": "close"} if self.close_connection else {}
        self._send_head(status, {**headers, "Content-Length": str(len(body)), **connection})
        self.wfile.write(body)

    def _send_head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, written: SerializedAnswer) -> None:
        self._send_head(written.status, {**written.headers, "Transfer-Encoding": "chunked"})
        for event in written.body.splitlines(keepends=True):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: every call is in the trace."""
