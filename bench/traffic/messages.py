"""What is said on one connection under load: requests and answers of 2 kB, made in advance."""

from bench.workspace import HOST

PATH = "/list?page=1"
"""What is asked for, again and again."""
BODY = (b"<!doctype html><title>2 kB</title>" + b"<p>All work and no play.</p>" * 80)[:2000]

_ASKED = {
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
"""As Chromium has it."""
_ANSWERED = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": str(len(BODY)),
    "Cache-Control": "no-store",
    "Server": "bench",
}


def _lines(first: str, fields: dict[str, str]) -> bytes:
    return "\r\n".join([first, *(f"{k}: {v}" for k, v in fields.items()), "", ""]).encode()


_ANSWER = _lines("HTTP/1.1 200 OK", _ANSWERED) + BODY


class Client:
    """One request at a time."""

    def __init__(self, port: int) -> None:
        host = {"Host": f"{HOST}:{port}", "Connection": "keep-alive"}
        self.request = _lines(f"GET {PATH} HTTP/1.1", host | _ASKED)
        self._held = bytearray()

    def take(self, data: bytes) -> bool:
        """Return whether the answer is whole; raise ConnectionError if it is not the site's."""
        self._held += data
        head = self._held.find(b"\r\n\r\n")
        if head < 0 or len(self._held) - head - 4 < len(BODY):
            return False
        if not (self._held.startswith(b"HTTP/1.1 200") and self._held.endswith(BODY)):
            raise ConnectionError(f"the answer is {bytes(self._held[:200])!r}")
        self._held.clear()
        return True


def answer(data: bytes) -> bytes:
    """Return what a site says to what it has received."""
    # A request without a body ends so, and comes in one TLS record.
    return _ANSWER if data.endswith(b"\r\n\r\n") else b""
