from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proxy.support.origin import Origin, served, server_context
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="session")
def leaf(ca: CertificateAuthority, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of localhost and its key."""
    return ca.leaf("localhost", tmp_path_factory.mktemp("leaf"))


@pytest.fixture
def plain() -> Iterator[Origin]:
    """A site in plain HTTP/1.1."""
    with served() as origin:
        yield origin


@pytest.fixture
def secure_h1(leaf: tuple[Path, Path]) -> Iterator[Origin]:
    """A site that speaks HTTP/1.1 over TLS, and nothing else; its name is localhost."""
    with served(server_context(*leaf, ["http/1.1"])) as origin:
        yield origin


@pytest.fixture
def secure_h2(leaf: tuple[Path, Path]) -> Iterator[Origin]:
    """A site that speaks HTTP/2 and HTTP/1.1 over TLS; its name is localhost."""
    with served(server_context(*leaf, ["h2", "http/1.1"])) as origin:
        yield origin
