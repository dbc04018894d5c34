from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proxy.support.origin import Origin, served, server_context
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    """The authority of the sites, which mitmproxy uses for its own certificates as well."""
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="session")
def leaf(ca: CertificateAuthority, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return ca.leaf("localhost", tmp_path_factory.mktemp("leaf"))


@pytest.fixture
def plain() -> Iterator[Origin]:
    with served() as origin:
        yield origin


@pytest.fixture
def secure_h1(leaf: tuple[Path, Path]) -> Iterator[Origin]:
    with served(server_context(*leaf, ["http/1.1"])) as origin:
        yield origin


@pytest.fixture
def secure_h2(leaf: tuple[Path, Path]) -> Iterator[Origin]:
    with served(server_context(*leaf, ["h2", "http/1.1"])) as origin:
        yield origin
