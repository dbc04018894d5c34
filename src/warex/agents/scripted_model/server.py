"""The server: nothing is remembered from one request to the next."""

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
    """An endpoint of each API for some tasks, or a playbook; `server_port` tells where."""

    daemon_threads = True
    # A client that leaves a connection open must not hold up the end.
    block_on_close = False

    def __init__(
        self, script: Tasks | PlaybookPlayer, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        """Bind; port 0 takes a free one.

        Raises:
            OSError: the port is in use, or the host is not of this machine.
        """
        self.script = script
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind without the reverse name look-up of the standard library, which may take long."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay quiet about clients that hang up, and about nothing else."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedModel
    protocol_version = "HTTP/1.1"
    timeout = IDLE
    # Small answers on a connection that lives: waiting to fill a packet costs 40 ms each.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self._path() == "/v1/models":
            names = list(wire.MODELS) if isinstance(self.server.script, Tasks) else ["playbook"]
            self._send(200, json.dumps(wire.models(names)).encode())
        else:
            self._refuse(wire.BadRequest(404, f"There is no GET {self._path()}."))

    def do_POST(self) -> None:
        try:
            # The body is read even for a wrong path: the next request follows on the connection.
            body = self._body()
            # A playbook stands in for whatever host is mapped to it, under whatever prefix.
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
            # Where the next request would begin is unknown now.
            self.close_connection = True
            raise wire.BadRequest(
                400, f"Content-Length is {announced!r}, not a number up to {LARGEST_BODY}."
            )
        return self.rfile.read(int(announced))

    def _refuse(self, refused: wire.BadRequest) -> None:
        self._send(refused.status, json.dumps(refused.body).encode())

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] = JSON) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, written: SerializedAnswer) -> None:
        self.send_response(written.status)
        for name, value in written.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in written.body.splitlines(keepends=True):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet: every call is in the trace of whoever asked."""
