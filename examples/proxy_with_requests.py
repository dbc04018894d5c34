"""Start a proxy from Python, send requests through it, read the ledger.

    python examples/proxy_with_requests.py

A site of one page on this machine replaces the real web; `maps` gives it a name. The client is
Python's own, configured with the proxy and the certificate that it must trust.
"""

import ssl
import tempfile
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import ensure_ca
from warex.proxy.process.client import start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.scenarios.load import load_scenario
from warex.traffic import TrafficOptions

URL = "https://shop.example/"


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


def ask(opener: urllib.request.OpenerDirector) -> int:
    """Fetch the page as a browser would and return its status."""
    request = urllib.request.Request(URL, headers={"Sec-Fetch-Dest": "document"})
    try:
        with opener.open(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def main() -> None:
    """Send two requests: the scenario hits the first document only."""
    ca, forkserver = ensure_ca(), Forkserver()
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Shop) as shop,
        tempfile.TemporaryDirectory() as folder,
    ):
        threading.Thread(target=shop.serve_forever, daemon=True).start()
        config = ProxyConfig(
            ca=ca.folder,
            out=Path(folder) / "trial",
            scenario=load_scenario("paper/server-error"),
            seed=1,
            traffic=TrafficOptions(maps=(f"{URL[:-1]}=http://127.0.0.1:{shop.server_port}",)),
        )
        with start_proxy(forkserver, config) as proxy:
            opener = urllib.request.build_opener(
                urllib.request.ProxyHandler({"https": proxy.url}),
                urllib.request.HTTPSHandler(
                    context=ssl.create_default_context(cafile=str(ca.certificate))
                ),
            )
            print("first answer: ", ask(opener))
            print("second answer:", ask(opener))
            for event in proxy.call("GET", "/ledger"):
                print(f"ledger:        {event['event']} {event['injection']} by {event['rule']}")
        shop.shutdown()
    forkserver.close()


if __name__ == "__main__":
    main()
