"""Serves folders of files on loopback for one trial, and counts requests."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from warex.benchmarks.job import TaskEnvironment, maps_of
from warex.benchmarks.table import BenchmarkConfig
from warex.errors import CampaignError, TrialVoid


@dataclass(slots=True)
class ServedFolder:
    """A served folder."""

    port: int
    requests: int = 0


@contextmanager
def serve_folder(folder: Path) -> Iterator[ServedFolder]:
    """Serve a folder on loopback; raise TrialVoid if it does not exist."""
    if not folder.is_dir():
        raise TrialVoid(f"the pages of the task are not there: {folder} is not a folder")
    served = ServedFolder(0)
    with _Server(("127.0.0.1", 0), partial(_Handler, served, directory=str(folder))) as server:
        served.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


def require_site_folders(table: BenchmarkConfig) -> None:
    """Raise CampaignError for a site whose target is neither a folder nor an origin."""
    for site, target in table.sites.items():
        if "://" not in target and not table.path(target).is_dir():
            raise CampaignError(
                f"benchmark.sites: {site} is to be served from {target!r}, which is neither a"
                " folder nor an origin"
            )


@contextmanager
def serve_sites(table: BenchmarkConfig) -> Iterator[TaskEnvironment]:
    """Serve a table's sites that are folders; yield the maps of all sites."""
    with ExitStack() as stack:
        where = dict(table.sites)
        for site, target in where.items():
            if "://" not in target:
                port = stack.enter_context(serve_folder(table.path(target))).port
                where[site] = f"http://127.0.0.1:{port}"
        yield TaskEnvironment(maps_of(where))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Do not wait for connections that a browser leaves open.
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing when a client disconnects."""


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, served: ServedFolder, *arguments: Any, **named: Any) -> None:
        self._served = served
        super().__init__(*arguments, **named)

    def parse_request(self) -> bool:
        """Count the request."""
        self._served.requests += 1
        return super().parse_request()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing; the trace has the requests."""
