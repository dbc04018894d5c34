"""A pool of running testbeds, each reset between trials."""

import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warex.benchmarks.child_process import start_child
from warex.proxy.certificates.ca import CertificateAuthority

HOSTS = "*.warex.test"
"""The host of a testbed's certificate, which covers all its sites."""

_RESET_SECONDS = 5.0


@contextmanager
def own_testbed(ca: CertificateAuthority | None) -> Iterator[dict[str, Any]]:
    """Run a testbed for one trial; with a CA it serves TLS. Yield its ports.

    Raises TrialVoid if it does not start.
    """
    with ExitStack() as stack:
        # The testbed has read both files once it is ready.
        with tempfile.TemporaryDirectory(prefix="warex-site-") as scratch:
            tls: tuple[str, ...] = ()
            if ca is not None:
                certificate, key = ca.leaf(HOSTS, Path(scratch))
                tls = ("--tls-cert", str(certificate), "--tls-key", str(key))
            # start_child, since a killed testbed fails its reset and is replaced.
            _, ports = stack.enter_context(start_child("warex_testbed", "serve", *tls))
        yield ports


@dataclass(slots=True)
class _Started:
    ports: dict[str, Any]
    program: ExitStack = field(repr=False)


class TestbedPool(ExitStack):
    """Testbeds that serve several trials; as many are started as are in use at once.

    Use it as a context manager: its exit ends them all, as does the end of this process.
    """

    __test__ = False  # Not a test class.

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._free: dict[Path | None, list[_Started]] = {}

    @contextmanager
    def acquire(self, ca: CertificateAuthority | None) -> Iterator[dict[str, Any]]:
        """Yield the ports of a fresh or reset testbed; with a CA it serves TLS.

        Raises TrialVoid if a new one does not start.
        """
        server = self._take(ca)
        try:
            yield server.ports
        finally:
            with self._lock:
                self._free.setdefault(_kind(ca), []).append(server)

    def _take(self, ca: CertificateAuthority | None) -> _Started:
        while True:
            with self._lock:
                free = self._free.get(_kind(ca))
                server = free.pop() if free else None
            if server is None:
                return self._new(ca)
            if _reset(server.ports["admin_port"]):
                return server
            server.program.close()

    def _new(self, ca: CertificateAuthority | None) -> _Started:
        program = ExitStack()
        with self._lock:
            self.callback(program.close)
        return _Started(program.enter_context(own_testbed(ca)), program)


def _kind(ca: CertificateAuthority | None) -> Path | None:
    return None if ca is None else ca.folder


def _reset(admin_port: int) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"http://127.0.0.1:{admin_port}/reset", method="POST")
    try:
        with opener.open(request, timeout=_RESET_SECONDS) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
