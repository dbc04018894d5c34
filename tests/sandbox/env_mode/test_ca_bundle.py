"""Certificates and settings of the user's stay in force beside ours."""

from pathlib import Path

import pytest

from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.env_mode.ca_bundle import combined_bundles, write_wgetrc

THEIRS = "-----BEGIN CERTIFICATE-----\ntheirs\n-----END CERTIFICATE-----\n"


@pytest.fixture
def corporate(tmp_path: Path) -> Path:
    path = tmp_path / "corporate.pem"
    path.write_text(THEIRS)
    return path


def test_a_bundle_of_the_users_is_kept_and_ours_added(
    ca: CertificateAuthority, corporate: Path, tmp_path: Path
) -> None:
    base = {"REQUESTS_CA_BUNDLE": str(corporate), "NODE_EXTRA_CA_CERTS": str(corporate)}

    results = combined_bundles(base, ca, tmp_path)

    assert results.keys() == base.keys()
    for path in results.values():
        assert path.read_text() == THEIRS + "\n" + ca.certificate.read_text()


def test_each_keeps_its_own(ca: CertificateAuthority, corporate: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_text("other")

    results = combined_bundles(
        {"CURL_CA_BUNDLE": str(other), "PIP_CERT": str(corporate)}, ca, tmp_path
    )

    assert results["CURL_CA_BUNDLE"].read_text().startswith("other")
    assert results["PIP_CERT"].read_text().startswith(THEIRS)


def test_a_folder_of_certificates_is_kept_too(
    ca: CertificateAuthority, corporate: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "certs"
    folder.mkdir()
    (folder / "corporate.crt").write_text(THEIRS)
    (folder / "readme.crt").write_text("no certificate")

    results = combined_bundles({"SSL_CERT_DIR": str(folder)}, ca, tmp_path)

    assert results["SSL_CERT_FILE"].read_text() == THEIRS + "\n" + ca.certificate.read_text()


def test_what_names_nothing_is_left_out(ca: CertificateAuthority, tmp_path: Path) -> None:
    base = {
        "SSL_CERT_FILE": "/no/such/file",
        "CURL_CA_BUNDLE": "",
        "SSL_CERT_DIR": "/etc/ssl/certs",
    }

    assert combined_bundles(base, ca, tmp_path) == {}


def test_wgets_own_settings_are_kept_before_ours(tmp_path: Path) -> None:
    (tmp_path / ".wgetrc").write_text("user_agent = mine")

    path = write_wgetrc({"HOME": str(tmp_path)}, "http://127.0.0.1:1", Path("/b.pem"), tmp_path)

    first, *ours = path.read_text().splitlines()
    assert first == "user_agent = mine"
    assert {"ca_certificate = /b.pem", "https_proxy = http://127.0.0.1:1"} <= set(ours)


def test_a_user_without_settings_of_wgets_gets_ours_alone(tmp_path: Path) -> None:
    path = write_wgetrc({}, "http://127.0.0.1:1", Path("/b.pem"), tmp_path)

    assert "use_proxy = on" in path.read_text()
