"""The requests and answers of connections under load: 2 kB, prepared in advance."""

from bench.workspace import HOST

PATH = "/list?page=1"
BODY = (b"<!doctype html><title>2 kB</title>" + b"<p>All work and no play.</p>" * 80)[:2000]

_REQUEST_HEADERS = {
    "sec-ch-ua": '"Chromium";v="140", "Not=A?Brand";v="24"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Linux"',
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0",
    "Accept": "*/*",
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-Mode": "cors",
    "Sec-Fetch-Dest": "empty",
    "Referer": "https://shop.example/list",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9",
}
"""Chromium's."""
_RESPONSE_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": str(len(BODY)),
    "Cache-Control": "no-store",
    "Server": "bench",
}


def _lines(first: str, fields: dict[str, str]) -> bytes:
    return "\r\n".join([first, *(f"{k}: {v}" for k, v in fields.items()), "", ""]).encode()


_ANSWER = _lines("HTTP/1.1 200 OK", _RESPONSE_HEADERS) + BODY


class Client:
    """The client's side of a connection, with one request at a time."""

    def __init__(self, port: int) -> None:
        host = {"Host": f"{HOST}:{port}", "Connection": "keep-alive"}
        self.request = _lines(f"GET {PATH} HTTP/1.1", host | _REQUEST_HEADERS)
        self._received = bytearray()

    def receive(self, data: bytes) -> bool:
        """Add data; return whether the answer is complete.

        Raises ConnectionError if the answer is not the site's.
        """
        self._received += data
        head = self._received.find(b"\r\n\r\n")
        if head < 0 or len(self._received) - head - 4 < len(BODY):
            return False
        if not (self._received.startswith(b"HTTP/1.1 200") and self._received.endswith(BODY)):
            raise ConnectionError(f"the answer is {bytes(self._received[:200])!r}")
        self._received.clear()
        return True


def answer(data: bytes) -> bytes:
    """Return the site's answer to the received data."""
    # A request without a body ends so, and arrives in one TLS record.
    return _ANSWER if data.endswith(b"\r\n\r\n") else b""
