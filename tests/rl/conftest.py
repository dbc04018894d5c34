"""A site, and a certificate authority of these tests."""

from collections.abc import Iterator

import pytest

from tests.proxy.support.origin import Origin, served


@pytest.fixture(scope="module", autouse=True)
def _own_ca(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAREX_CA_DIR", str(tmp_path_factory.mktemp("authority") / "ca"))
        yield


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    with served() as running:
        yield running
