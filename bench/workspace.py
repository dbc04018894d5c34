"""What every benchmark uses: a folder, certificates, the forkserver."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.forkserver import Forkserver

HOST = "localhost"
"""The sites' host. A name, since a TLS client sends no address as its server name (SNI)."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A temporary folder with certificates, and a forkserver."""

    folder: Path
    ca: CertificateAuthority
    certificate: Path
    key: Path
    forkserver: Forkserver
    quick: bool
    """A few seconds per benchmark, which only shows that it runs."""

    @property
    def tls(self) -> tuple[str, str]:
        """Certificate and key, as arguments of the sites' commands."""
        return str(self.certificate), str(self.key)

    def fresh(self, name: str) -> Path:
        """Make an empty folder."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))


@contextmanager
def open_workspace(quick: bool) -> Iterator[Workspace]:
    """Create a workspace with its own CA; remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="warex-bench-") as made:
        folder = Path(made)
        ca = ensure_ca(folder / "ca")
        certificate, key = ca.leaf(HOST, folder)
        forkserver = Forkserver()
        try:
            forkserver.ensure_started()
            yield Workspace(folder, ca, certificate, key, forkserver, quick)
        finally:
            forkserver.close()
