"""Test how a client takes a bad day: five lines around code that is not changed.

    python examples/intercept_a_client.py

The client asks again after a failure, if it may. It is a program and no browser, so the scenario's
rule is about whatever it asks for; the presets are about the pages that a browser opens. A site of
one page, served on this machine, stands in for the real web; leave `maps` out for sites of the real
web.
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
        """Answer."""
        page = b"<h1>Open</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args: object) -> None:
        """Stay silent."""


def client(opener: urllib.request.OpenerDirector, tries: int) -> str:
    """Fetch the page; try again where the server fails."""
    for _ in range(tries):
        try:
            with opener.open(URL) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            error.close()
    return "gave up"


def main() -> None:
    """Give one client a single try, another two."""
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
