"""The certificate authority: made once, kept secret, found by everybody who needs it."""

import base64
import hashlib
import os
import socket
import ssl
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from OpenSSL import crypto

from warex.errors import MachineError
from warex.proxy.certificates.ca import (
    CertificateAuthority,
    default_folder,
    ensure_ca,
    folder_of_bundle,
    system_bundle,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def client() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def test_only_its_owner_may_read_the_key(tmp_path: Path) -> None:
    authority = ensure_ca(tmp_path / "deep" / "ca")
    assert mode(authority.folder) == 0o700
    secret = [
        path
        for path in authority.folder.rglob("*")
        if path.is_file() and b"PRIVATE KEY" in path.read_bytes()
    ]
    assert secret
    assert {mode(path) for path in secret} == {0o600}
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["ca"]


def test_the_ca_has_an_elliptic_curve_key(ca: CertificateAuthority) -> None:
    certificate = x509.load_pem_x509_certificate(ca.certificate.read_bytes())

    assert isinstance(certificate.public_key(), ec.EllipticCurvePublicKey)


def test_the_ca_is_made_once(ca: CertificateAuthority) -> None:
    before = ca.certificate.read_bytes()
    assert ensure_ca(ca.folder).certificate.read_bytes() == before


@pytest.mark.wire
def test_concurrent_processes_get_the_same_ca(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from warex.proxy.certificates.ca import ensure_ca;"
        "sys.stdin.read(1); print(ensure_ca(Path(sys.argv[1])).spki)"
    )
    made = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "ca")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for process in made:
        assert process.stdin is not None
        process.stdin.write("g")
        process.stdin.flush()
    output = {process.communicate(timeout=60)[0] for process in made}
    assert output == {f"{CertificateAuthority(tmp_path / 'ca').spki}\n"}
    assert [path.name for path in tmp_path.iterdir()] == ["ca"]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match=r"cannot be made or read.*WAREX_CA_DIR"):
        ensure_ca(tmp_path / "file" / "ca")


def test_a_folder_of_other_things_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(MachineError, match="cannot be made"):
        ensure_ca(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    folder = tmp_path / "ca"
    folder.mkdir()
    assert ensure_ca(folder).certificate.exists()


def test_the_ca_folder_is_the_users_unless_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WAREX_CA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "warex" / "ca"
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine"


def test_a_user_without_a_home_gets_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WAREX_CA_DIR", "XDG_DATA_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)  # Nobody has this number.
    with pytest.raises(MachineError, match="no home folder: set HOME, or WAREX_CA_DIR"):
        default_folder()


@pytest.mark.slow
@pytest.mark.wire
def test_the_key_hash_is_openssls(ca: CertificateAuthority) -> None:
    public = subprocess.run(
        ["openssl", "x509", "-in", str(ca.certificate), "-pubkey", "-noout"],
        capture_output=True,
        check=True,
    ).stdout
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-outform", "der"],
        input=public,
        capture_output=True,
        check=True,
    ).stdout
    assert ca.spki == base64.b64encode(hashlib.sha256(der).digest()).decode()


@pytest.mark.wire
@pytest.mark.parametrize("host", ["shop.example", "127.0.0.1"])
def test_clients_that_trust_the_ca_trust_its_sites(
    ca: CertificateAuthority, tmp_path: Path, host: str
) -> None:
    certificate, key = ca.leaf(host, tmp_path)
    assert mode(key) == 0o600
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with served.wrap_socket(theirs, server_side=True) as site:
            site.sendall(b"hello")

    thread = threading.Thread(target=serve)
    thread.start()
    # By the folder alone, as the proxy trusts it.
    trusting = client()
    trusting.load_verify_locations(capath=str(ca.hashed_dir))
    with trusting.wrap_socket(ours, server_hostname=host) as connection:
        assert connection.recv(5) == b"hello"
    thread.join()


def test_a_bundle_holds_the_machines_authorities_and_ours(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    bundle = ca.bundle(tmp_path / "bundle.pem")
    many, machines = client(), client()
    many.load_verify_locations(bundle)
    machines.load_verify_locations(system_bundle())
    assert len(many.get_ca_certs()) == len(machines.get_ca_certs()) + 1
    assert len(machines.get_ca_certs()) > 20


def test_the_variable_for_trusted_certificates_is_heeded(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(ca.certificate))
    assert system_bundle() == ca.certificate


def test_a_bundle_is_read_by_its_folder_only_if_that_has_all_of_it(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    bundle = tmp_path / "ca-certificates.crt"
    bundle.write_bytes(ca.certificate.read_bytes())
    assert folder_of_bundle(bundle) is None
    for link in ca.hashed_dir.iterdir():
        (tmp_path / link.name).write_bytes(link.read_bytes())
    assert folder_of_bundle(bundle) == tmp_path

    bundle.write_bytes(ca.certificate.read_bytes() * 2)
    assert folder_of_bundle(bundle) is None
    assert folder_of_bundle(tmp_path / "none" / "ca-certificates.crt") is None
    assert folder_of_bundle(ca.certificate) is None


def test_openssl_finds_the_certificate_by_the_name_of_its_file(ca: CertificateAuthority) -> None:
    certificate = crypto.load_certificate(crypto.FILETYPE_PEM, ca.certificate.read_bytes())
    (file,) = ca.hashed_dir.iterdir()
    assert file.name == f"{certificate.subject_name_hash():08x}.0"
