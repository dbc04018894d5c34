"""Programs that run in a namespace whose connections a lane serves."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.fetch import FETCH
from tests.proxy.support.lanes import Lane, configured
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.client import start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.namespace.launcher import Namespace, open_namespace


@dataclass
class LaneNamespace:
    """A namespace, and the lane that serves it."""

    lane: Lane
    space: Namespace
    trusted: Path

    def run(
        self,
        *command: object,
        seconds: float = 30,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> "subprocess.CompletedProcess[str]":
        variables = dict(self.space.environment(os.environ).variables)
        # Other tests check how programs come to trust the CA.
        variables |= {name: str(self.trusted) for name in ("CURL_CA_BUNDLE", "SSL_CERT_FILE")}
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            open(os.devnull) as nothing,
        ):
            started = self.space.start(
                [str(word) for word in command],
                variables,
                stdin=nothing.fileno(),
                stdout=out,
                stderr=err,
            )
            meanwhile()
            code = started.wait(seconds)
            out.seek(0)
            err.seek(0)
            message = (out.read().decode(errors="replace"), err.read().decode(errors="replace"))
        return subprocess.CompletedProcess([str(word) for word in command], code, *message)

    def says(self, *command: object, meanwhile: Callable[[], object] = lambda: None) -> str:
        """Run a program that must succeed; return what it printed."""
        done = self.run(*command, meanwhile=meanwhile)
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        return done.stdout

    def curl(self, *arguments: object) -> str:
        """Run curl; only for slow tests, since quick ones cannot assume it."""
        return self.says("curl", "-sS", "-m", "20", *arguments)

    def fetch(self, *arguments: object) -> str:
        """Run ``tests/fetch.py``; return the answer's body, or its status."""
        return self.says(*FETCH, *arguments)

    def fetch_fails(self, *arguments: object) -> int:
        """Run ``tests/fetch.py``, which must fail; return its exit code, one of curl's."""
        done = self.run(*FETCH, *arguments)
        assert done.returncode, done.stdout
        return done.returncode

    def python(self, program: str, meanwhile: Callable[[], object] = lambda: None) -> str:
        return self.says(sys.executable, "-c", program, meanwhile=meanwhile)


class BeginInside(Protocol):
    def __call__(
        self, *, host_ports: Collection[int] = (), **config: Any
    ) -> AbstractContextManager[LaneNamespace]: ...


def beginner_inside(forkserver: Forkserver, ca: CertificateAuthority, folder: Path) -> BeginInside:
    """Return a function that starts lanes, each with its own namespace and folder."""
    count = 0

    @contextmanager
    def begin(*, host_ports: Collection[int] = (), **config: Any) -> Iterator[LaneNamespace]:
        nonlocal count
        count += 1
        out = folder / f"inside-{count}"
        notices: list[str] = []
        wanted = configured(ca=ca.folder, out=out, capture="namespace", **config)
        with (
            open_namespace(ca, host_ports=host_ports) as space,
            start_proxy(forkserver, wanted, notices.append, passed=space.passed) as proxy,
        ):
            yield LaneNamespace(Lane(proxy, out, notices), space, ca.certificate)

    return begin


def mapped(*origins: str, port: int, scheme: str = "http") -> tuple[str, ...]:
    """Return the options that map origins to a port of this machine."""
    host = "localhost" if scheme == "https" else "127.0.0.1"
    return tuple(f"{origin}={scheme}://{host}:{port}" for origin in origins)
