from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trials.shop import COMPLETION, Shop, browser, served
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.trials import TrialContext


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="session")
def forkserver() -> Iterator[Forkserver]:
    server = Forkserver()
    yield server
    server.close()


@pytest.fixture(scope="session")
def model_port() -> Iterator[int]:
    with served(COMPLETION, "application/json") as port:
        yield port


@pytest.fixture
def context(
    forkserver: Forkserver, ca: CertificateAuthority, model_port: int, tmp_path: Path
) -> TrialContext:
    """What a campaign would share, with the shop as its benchmark."""
    return TrialContext(
        benchmark=Shop(),
        forkserver=forkserver,
        ca=ca,
        chromium=browser(tmp_path),
        timeout_s=60,
        model_port=model_port,
    )
