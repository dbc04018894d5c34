"""A truststore keeps whom it trusted and gets one more."""

import hashlib
import os
import ssl
import struct
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import NoEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
)

from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.sandbox.trust.java import add_certificate, find_truststores


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """Two certificates, DER."""
    made = [ensure_ca(tmp_path_factory.mktemp("authority") / "ca") for _ in range(2)]
    return _der(made[0]), _der(made[1])


def _der(ca: CertificateAuthority) -> bytes:
    return ssl.PEM_cert_to_DER_cert(ca.certificate.read_text())


def pkcs12(certificate: bytes) -> bytes:
    pending = PKCS12Certificate(x509.load_der_x509_certificate(certificate), b"first")
    return serialize_java_truststore([pending], NoEncryption())


def jks(*entries: tuple[bytes, bytes]) -> bytes:
    full = struct.pack(">III", 0xFEEDFEED, 2, len(entries))
    for alias, certificate in entries:
        full += struct.pack(">IH", 2, len(alias)) + alias + bytes(8)
        full += struct.pack(">H", 5) + b"X.509" + struct.pack(">I", len(certificate)) + certificate
    return full + hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + full).digest()


def test_a_store_of_javas_own_format_gets_one_more(two: tuple[bytes, bytes]) -> None:
    first, ours = two

    assert add_certificate(jks((b"first", first)), ours) == jks((b"first", first), (b"warex", ours))


def test_a_store_in_pkcs12_is_written_in_the_format_that_every_java_reads(
    two: tuple[bytes, bytes],
) -> None:
    first, ours = two

    assert add_certificate(pkcs12(first), ours) == jks((b"0", first), (b"warex", ours))


def test_ours_is_there_once(two: tuple[bytes, bytes]) -> None:
    first, ours = two
    once = add_certificate(jks((b"first", first)), ours)

    assert add_certificate(once, ours) == once


@pytest.mark.parametrize("store", [b"", b"nonsense", bytes.fromhex("feedfeed00000002")])
def test_what_is_not_a_truststore_is_said_to_be_none(
    store: bytes, two: tuple[bytes, bytes]
) -> None:
    with pytest.raises(ValueError, match=r"not a truststore|cut short"):
        add_certificate(store, two[1])


def test_every_jvm_is_found_and_each_file_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    places = [
        tmp_path / "named/lib/security/cacerts",
        home / ".sdkman/candidates/java/21-tem/lib/security/cacerts",
        home / ".jdks/8/jre/lib/security/cacerts",
    ]
    for place in places:
        place.parent.mkdir(parents=True)
        place.write_bytes(b"x")
    (home / ".sdkman/candidates/java/current").symlink_to("21-tem")
    environment = {"JAVA_HOME": str(tmp_path / "named"), "HOME": str(home), "PATH": os.devnull}

    results = [path for path in find_truststores(environment) if path.is_relative_to(tmp_path)]

    assert results == sorted(places)
