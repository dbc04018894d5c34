import pytest

from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")
