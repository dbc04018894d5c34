"""What every benchmark works with: a folder, certificates, the forkserver."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.forkserver import Forkserver

HOST = "localhost"
"""Where the sites live. A name, since a TLS client says a name (SNI) and no address."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A place to measure in. Everything in the folder goes when the run ends."""

    folder: Path
    ca: CertificateAuthority
    certificate: Path
    key: Path
    forkserver: Forkserver
    quick: bool
    """A few seconds each, to see that it works; the numbers mean little."""

    @property
    def tls(self) -> tuple[str, str]:
        """Certificate and key as the sites take them on their command line."""
        return str(self.certificate), str(self.key)

    def fresh(self, name: str) -> Path:
        """Make an empty folder."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))


@contextmanager
def setting(quick: bool) -> Iterator[Setting]:
    """Make the place, with a CA of its own, and remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="warex-bench-") as made:
        folder = Path(made)
        ca = ensure_ca(folder / "ca")
        certificate, key = ca.leaf(HOST, folder)
        forkserver = Forkserver()
        try:
            forkserver.ensure_started()
            yield Setting(folder, ca, certificate, key, forkserver, quick)
        finally:
            forkserver.close()
