"""The requests and answers of connections under load, prepared in advance."""

from typing import Protocol

from bench.traffic.streams import QUESTION, SIXTY_EVENTS
from bench.workspace import HOST

PATH = "/list?page=1"
BODY = (b"<!doctype html><title>2 kB</title>" + b"<p>All work and no play.</p>" * 80)[:2000]

REQUEST_HEADERS = {
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
RESPONSE_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": str(len(BODY)),
    "Cache-Control": "no-store",
    "Server": "bench",
}


def _lines(first: str, fields: dict[str, str]) -> bytes:
    return "\r\n".join([first, *(f"{k}: {v}" for k, v in fields.items()), "", ""]).encode()


ANSWER = _lines("HTTP/1.1 200 OK", RESPONSE_HEADERS) + BODY


class Unit(Protocol):
    """The client's side of a connection, with one request at a time."""

    request: bytes

    def receive(self, data: bytes) -> bool:
        """Add data; return whether the answer is complete.

        Raises ConnectionError if the answer is not the site's.
        """


class Client:
    """Gets 2 kB."""

    def __init__(self, port: int) -> None:
        host = {"Host": f"{HOST}:{port}", "Connection": "keep-alive"}
        self.request = _lines(f"GET {PATH} HTTP/1.1", host | REQUEST_HEADERS)
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
    return ANSWER if data.endswith(b"\r\n\r\n") else b""


MEGABYTE = 1_000_000
MEGABYTE_PATH = f"/bytes/{MEGABYTE}"


class MegabyteClient:
    """Gets a megabyte."""

    def __init__(self, port: int) -> None:
        host = {"Host": f"{HOST}:{port}", "Connection": "keep-alive"}
        self.request = _lines(f"GET {MEGABYTE_PATH} HTTP/1.1", host | REQUEST_HEADERS)
        self._head = b""
        self._left = 0

    def receive(self, data: bytes) -> bool:
        """Add data; return whether the answer is complete.

        Raises ConnectionError if the answer is not the site's.
        """
        if not self._left:
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end:
                return False
            if not head.startswith(b"HTTP/1.1 200"):
                raise ConnectionError(f"the answer is {head[:200]!r}")
            self._head, self._left = b"", MEGABYTE
        self._left -= len(data)
        return not self._left


class EventsClient:
    """Asks a model, whose answer comes in sixty events."""

    def __init__(self, port: int) -> None:
        head = {
            "Host": f"{HOST}:{port}",
            "Content-Type": "application/json",
            "Authorization": "Bearer none",
            "Content-Length": str(len(QUESTION)),
        }
        self.request = _lines(f"POST {SIXTY_EVENTS} HTTP/1.1", head) + QUESTION
        self._received = bytearray()

    def receive(self, data: bytes) -> bool:
        """Add data; return whether the answer is complete.

        Raises ConnectionError if the answer is not the model's.
        """
        self._received += data
        if not self._received.endswith(b"0\r\n\r\n"):
            return False
        if b"[DONE]" not in self._received or not self._received.startswith(b"HTTP/1.1 200"):
            raise ConnectionError(f"this is not a model's answer: {bytes(self._received[:200])!r}")
        self._received.clear()
        return True
