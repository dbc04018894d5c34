"""A receiver of OTLP over HTTP, which parses what it is sent."""

import gzip
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Receiver(HTTPServer):
    """It keeps what it was sent; ``status`` and ``reply`` are what it answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Any] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.status, self.reply = 200, ExportTraceServiceResponse()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        assert self.headers["Content-Type"] == "application/x-protobuf"
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.server.paths.append(self.path)
        self.server.keys.append(self.headers["X-Key"])
        reply = self.server.reply.SerializeToString()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        pass
