"""Chromium's databases, made by NSS itself."""

import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.trust import nss_library

pytestmark = [pytest.mark.slow, pytest.mark.wire]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    made = [ensure_ca(tmp_path_factory.mktemp("authority") / "ca") for _ in range(2)]
    return [ssl.PEM_cert_to_DER_cert(ca.certificate.read_text()) for ca in made]


def listed(content: dict[str, bytes], folder: Path) -> list[str]:
    folder.mkdir()
    for name, data in content.items():
        (folder / name).write_bytes(data)
    listing = subprocess.run(
        ["certutil", "-L", "-d", f"sql:{folder}"], capture_output=True, text=True, check=True
    )
    return [line.split()[-1] for line in listing.stdout.splitlines()[4:] if line.strip()]


def test_a_new_database_trusts_the_certificate_for_sites(
    certificates: list[bytes], tmp_path: Path
) -> None:
    assert listed(nss_library.database({}, certificates[0]), tmp_path / "db") == ["C,,"]


def test_a_copy_keeps_what_the_users_database_holds(
    certificates: list[bytes], tmp_path: Path
) -> None:
    theirs = {**nss_library.database({}, certificates[0]), nss_library.MODULES: b"library=\n"}

    both = nss_library.database(theirs, certificates[1])

    assert both[nss_library.MODULES] == b"library=\n"
    del both[nss_library.MODULES]
    assert listed(both, tmp_path / "db") == ["C,,", "C,,"]


def test_what_nss_refuses_is_reported_in_a_sentence(certificates: list[bytes]) -> None:
    with pytest.raises(OSError, match="NSS cannot open the database"):
        nss_library.database({"cert9.db": b"nonsense", "key4.db": b""}, certificates[0])
    with pytest.raises(OSError, match="NSS cannot read the certificate"):
        nss_library.database({}, b"nonsense")


def test_without_the_library_it_is_named_with_its_package(tmp_path: Path) -> None:
    # Loaded by its own path it is the same library; so nowhere is one to be found in here.
    code = (
        "import ctypes, sys; sys.path.append(sys.argv[1])\n"
        "import importlib.util as u\n"
        "spec = u.spec_from_file_location('nss', sys.argv[2])\n"
        "nss = u.module_from_spec(spec); spec.loader.exec_module(nss)\n"
        "def missing(name): raise OSError(name)\n"
        "ctypes.CDLL = missing\n"
        "try: nss.add(sys.argv[1], b'', ['/nowhere/libnss3.so'])\n"
        "except OSError as error: print(error)\n"
    )
    completed = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path), nss_library.__file__],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "there is no libnss3.so: install your system's package" in completed.stdout
