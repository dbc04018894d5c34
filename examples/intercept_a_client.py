"""Test a client under faults: five lines around unchanged code.

    python examples/intercept_a_client.py

The client retries after a failure, if allowed. It is not a browser, so the scenario's rule matches
every request; the presets match only the pages that a browser opens. A site of one page on this
machine replaces the real web; omit `maps` for real sites.
"""

import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import warex

URL = "http://shop.example/"
DOWN_ONCE = {
    "rules": [{"name": "down", "trigger": {"first": 1}, "fault": {"kind": "http_error"}}],
}


class Shop(BaseHTTPRequestHandler):
    """A site of one page."""

    def do_GET(self) -> None:
        """Send the page."""
        page = b"<h1>Open</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args: object) -> None:
        """Log nothing."""


def client(opener: urllib.request.OpenerDirector, tries: int) -> str:
    """Fetch the page; retry if the server fails."""
    for _ in range(tries):
        try:
            with opener.open(URL) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            error.close()
    return "gave up"


def main() -> None:
    """Run a client with one try, and one with two."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as shop:
        threading.Thread(target=shop.serve_forever, daemon=True).start()
        maps = {URL.rstrip("/"): f"http://127.0.0.1:{shop.server_port}"}
        for tries in (1, 2):
            with warex.intercept(DOWN_ONCE, seed=1, maps=maps) as proxy:
                opener = urllib.request.build_opener(
                    urllib.request.ProxyHandler({"http": proxy.url})
                )
                print(f"tries {tries}: ", client(opener, tries))
                for injection in proxy.ledger:
                    print(f"ledger:   {injection.kind} into {injection.url} {injection.state}")
        shop.shutdown()


if __name__ == "__main__":
    main()
