"""A site over TLS for the benchmarks whose requests are slower. One thread per connection.

GET /bytes/N                  N bytes
GET /page                     a page of 60 scripts, style sheets and images, none cacheable
POST /v1/chat/completions     a model's streamed answer: two events, the second delayed; or sixty

python -m bench.traffic.site CERTIFICATE KEY     prints its port; ends with standard input
"""

import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bench.traffic.streams import events

KINDS = ("js", "css", "png")
SUB_RESOURCES = 60
_PIECE = bytes(64 * 1024)
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c636060606000000005000157a7c1a40000000049454e44ae426082"
)
_SUB_RESOURCE = {
    "js": (
        "text/javascript",
        b"window.loaded = (window.loaded || 0) + 1;\n" + b"// filler\n" * 800,
    ),
    "css": ("text/css", b"p { color: #222 }\n" + b"/* filler */\n" * 600),
    "png": ("image/png", _PIXEL),
}


def page() -> str:
    """Return the page, with equal numbers of each kind."""
    tags = {
        "js": '<script defer src="/part/{}.js"></script>',
        "css": '<link rel="stylesheet" href="/part/{}.css">',
        "png": '<img src="/part/{}.png" alt="">',
    }
    parts = [tags[KINDS[n % len(KINDS)]].format(n) for n in range(SUB_RESOURCES)]
    # With an icon, so that the browser requests none.
    icon = '<link rel="icon" href="data:,">'
    return f"<!doctype html><title>60 parts</title>{icon}{''.join(parts)}<p>Done."


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path.startswith("/bytes/"):
            self._send_bytes(int(self.path.rpartition("/")[2]))
        elif self.path.startswith("/part/"):
            self._send(*_SUB_RESOURCE[self.path.rpartition(".")[2]])
        else:
            self._send("text/html", page().encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._head("text/event-stream", "Transfer-Encoding", "chunked")
        pause, pieces = events(self.path)
        for piece in pieces[:-1]:
            self.wfile.write(_chunk(piece))
            time.sleep(pause)
        self.wfile.write(_chunk(pieces[-1]) + b"0\r\n\r\n")

    def _head(self, media_type: str, framing: str, value: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header(framing, value)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def _send(self, media_type: str, body: bytes) -> None:
        self._head(media_type, "Content-Length", str(len(body)))
        self.wfile.write(body)

    def _send_bytes(self, number: int) -> None:
        self._head("application/octet-stream", "Content-Length", str(number))
        while number:
            number -= self.wfile.write(_PIECE[:number])

    def log_message(self, format: str, *args: object) -> None:
        pass


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


class _Server(ThreadingHTTPServer):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self._context = context

    def finish_request(self, request: object, client_address: object) -> None:
        # Here and not in accept: a slow handshake must not delay other connections.
        if not isinstance(request, socket.socket):
            raise TypeError(f"{request!r} is not a socket")
        try:
            with self._context.wrap_socket(request, server_side=True) as connected:
                super().finish_request(connected, client_address)
        except OSError:
            pass  # The client closed the connection early, as browsers do.


def main() -> None:
    """Serve on any free port of loopback."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = _Server(context)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
