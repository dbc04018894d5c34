from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proxy.support.lanes import Begin, beginner
from tests.proxy.support.namespace_programs import BeginInside, beginner_inside
from tests.proxy.support.origin import Origin, served, server_context
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.forkserver import Forkserver


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="session")
def forkserver() -> Iterator[Forkserver]:
    server = Forkserver()
    yield server
    server.close()


@pytest.fixture
def begin(forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path) -> Begin:
    return beginner(forkserver, ca, tmp_path)


@pytest.fixture
def begin_inside(forkserver: Forkserver, ca: CertificateAuthority, tmp_path: Path) -> BeginInside:
    """Starts a lane that serves a namespace of its own."""
    return beginner_inside(forkserver, ca, tmp_path)


@pytest.fixture(scope="session")
def _certificate(
    ca: CertificateAuthority, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    return ca.leaf("localhost", tmp_path_factory.mktemp("leaf"))


@pytest.fixture(scope="session")
def _plain() -> Iterator[Origin]:
    with served() as origin:
        yield origin


@pytest.fixture(scope="session")
def _secure_h1(_certificate: tuple[Path, Path]) -> Iterator[Origin]:
    with served(server_context(*_certificate, ["http/1.1"])) as origin:
        yield origin


@pytest.fixture(scope="session")
def _secure_h2(_certificate: tuple[Path, Path]) -> Iterator[Origin]:
    with served(server_context(*_certificate, ["h2", "http/1.1"])) as origin:
        yield origin


@pytest.fixture
def plain(_plain: Origin) -> Origin:
    """A site in plain HTTP/1.1."""
    _plain.reset()
    return _plain


@pytest.fixture
def secure_h1(_secure_h1: Origin) -> Origin:
    """A site that speaks HTTP/1.1 over TLS, and nothing else; its name is localhost."""
    _secure_h1.reset()
    return _secure_h1


@pytest.fixture
def secure_h2(_secure_h2: Origin) -> Origin:
    """A site that speaks HTTP/2 and HTTP/1.1 over TLS; its name is localhost."""
    _secure_h2.reset()
    return _secure_h2
