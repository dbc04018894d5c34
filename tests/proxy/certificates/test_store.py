"""The certificate authority as lanes read it: once, and what a client trusts."""

import os
import shutil
from pathlib import Path

import pytest
from cryptography import x509

from warex.proxy.certificates.ca import CertificateAuthority, key_file
from warex.proxy.certificates.store import load_store


@pytest.mark.wire
def test_it_is_read_once_and_anew_only_when_its_file_has_changed(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    folder = tmp_path / "ca"
    shutil.copytree(ca.folder, folder)
    store = load_store(folder)
    assert load_store(folder) is store

    aside = tmp_path / "aside"
    shutil.copy(key_file(folder), aside)
    os.replace(aside, key_file(folder))
    assert load_store(folder) is not store


@pytest.mark.wire
def test_a_leaf_is_signed_by_the_authority_that_clients_trust(ca: CertificateAuthority) -> None:
    entry = load_store(ca.folder).get_cert("shop.example", [x509.DNSName("shop.example")])
    trusted = x509.load_pem_x509_certificate(ca.certificate.read_bytes())
    entry.cert.to_cryptography().verify_directly_issued_by(trusted)


def test_where_there_is_none_that_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_store(tmp_path)
