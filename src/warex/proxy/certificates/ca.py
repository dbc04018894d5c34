"""WAREX's own certificate authority, made once for each user and shared by all lanes.

The private key lets its holder impersonate any site to clients that trust the CA. It is made on
this machine, never leaves it, and only its owner may read it.

The certificate libraries are imported only where needed: ``warex exec`` starts fast and needs only
the CA's path.
"""

import base64
import hashlib
import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from warex.errors import MachineError
from warex.files.private import private_opener

if TYPE_CHECKING:
    from cryptography import x509

BASENAME = "mitmproxy"
"""As mitmproxy names a CA in its configuration folder, which the folder may also be."""

_KEY_FILE = f"{BASENAME}-ca.pem"
_CERTIFICATE_FILE = f"{BASENAME}-ca-cert.pem"
_HASHED_DIR = "trusted"
_SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)


class CertificateAuthority(Struct, frozen=True):
    """A CA on disk."""

    folder: Path

    @property
    def certificate(self) -> Path:
        """The certificate that clients must trust, PEM."""
        return self.folder / _CERTIFICATE_FILE

    @property
    def der(self) -> bytes:
        """The certificate, DER."""
        import ssl

        return ssl.PEM_cert_to_DER_cert(self.certificate.read_text())

    @property
    def spki(self) -> str:
        """The SHA-256 of the CA's public key, base64, as Chromium's command line takes it."""
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        loaded = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        public = loaded.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(hashlib.sha256(public).digest()).decode()

    @property
    def hashed_dir(self) -> Path:
        """A folder with the certificate under its OpenSSL hash name (``c_rehash``)."""
        return self.folder / _HASHED_DIR

    def leaf(self, host: str, folder: Path) -> tuple[Path, Path]:
        """Write a certificate for a host and its key; return the two paths, PEM, key mode 0600.

        Clients that trust the CA trust a local site with this certificate.
        """
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        from warex.engine.tls.certificates import good_leaf, load_authority

        key = ec.generate_private_key(ec.SECP256R1())
        leaf = good_leaf(host, key, *load_authority(key_file(self.folder)))
        certificate, secret = folder / f"{host}.crt", folder / f"{host}.key"
        certificate.write_bytes(leaf.public_bytes(Encoding.PEM) + self.certificate.read_bytes())
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        with open(secret, "wb", opener=private_opener) as file:
            file.write(pem)
        return certificate, secret

    def bundle(self, path: Path) -> Path:
        """Write the system's trusted certificates and this CA into one PEM file; return its path.

        For the variables that replace a program's trust store, such as ``SSL_CERT_FILE``.
        """
        trusted = system_bundle().read_text().rstrip()
        path.write_text(f"{trusted}\n{self.certificate.read_text()}")
        return path


def system_bundle() -> Path:
    """Return the file of certificates that this machine trusts.

    ``$SSL_CERT_FILE``, else OpenSSL's default, else a distribution's file, else certifi's list.
    """
    import ssl

    default = ssl.get_default_verify_paths().cafile
    for place in (default, *_SYSTEM_BUNDLES):
        if place and Path(place).is_file():
            return Path(place)
    import certifi

    return Path(certifi.where())


def folder_of_bundle(bundle: Path) -> Path | None:
    """Return the folder where OpenSSL finds each certificate of a bundle by its hash, if any.

    Debian's ``update-ca-certificates`` makes both. Reading the whole bundle takes 20 ms.
    """
    if bundle.name != "ca-certificates.crt":
        return None
    try:
        count = bundle.read_bytes().count(b"-----BEGIN CERTIFICATE-----")
        hashed = sum(map(_is_hash, os.listdir(bundle.parent)))
    except OSError:
        return None
    return bundle.parent if count == hashed else None


def _is_hash(name: str) -> bool:
    """Whether OpenSSL may look a certificate up by this name: 8 hexadecimal digits and a number."""
    digits, _, number = name.partition(".")
    return len(digits) == 8 and set(digits) <= set("0123456789abcdef") and number.isdecimal()


def default_folder() -> Path:
    """Return the folder of this user's CA (XDG Base Directory), or ``$WAREX_CA_DIR``.

    Raises MachineError if there is no home folder.
    """
    if override := os.environ.get("WAREX_CA_DIR"):
        return Path(override)
    try:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    except RuntimeError:
        raise MachineError(
            "the certificate authority has no place, since this user has no home folder: set HOME,"
            " or WAREX_CA_DIR to a folder of yours that can be written"
        ) from None
    return Path(data) / "warex" / "ca"


def ensure_ca(folder: Path | None = None) -> CertificateAuthority:
    """Return the CA; make it if there is none.

    Concurrent callers each make a CA in a temporary folder and rename it; the first wins. Raises
    MachineError if the folder cannot be written or read.
    """
    folder = folder or default_folder()
    try:
        if not (folder / _KEY_FILE).exists():
            _make(folder)
        with (folder / _KEY_FILE).open("rb"):
            pass
    except OSError as error:
        raise MachineError(
            f"the certificate authority in {folder} cannot be made or read: {error.strerror};"
            " set WAREX_CA_DIR to a folder of yours that can be written"
        ) from None
    return CertificateAuthority(folder)


def key_file(folder: Path) -> Path:
    """Return the file of a CA's key and certificate, PEM."""
    return folder / _KEY_FILE


def _make(folder: Path) -> None:
    from cryptography import x509

    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".ca-", dir=folder.parent))
    try:
        key, certificate = _generated()
        with open(aside / _KEY_FILE, "wb", opener=private_opener) as file:
            file.write(key + certificate)
        (aside / _CERTIFICATE_FILE).write_bytes(certificate)
        (aside / _CERTIFICATE_FILE).chmod(0o644)
        (aside / _HASHED_DIR).mkdir()
        name = _hashed_name(x509.load_pem_x509_certificate(certificate).subject)
        (aside / _HASHED_DIR / f"{name}.0").write_bytes(certificate)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        aside.rename(folder)
    except OSError:
        if not (folder / _KEY_FILE).exists():
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _hashed_name(subject: "x509.Name") -> str:
    """Return the name under which OpenSSL finds a certificate (X509_NAME_hash).

    It is the hash of the subject's canonical form: UTF-8, in lower case, without the header of the
    sequence.
    """
    from cryptography import x509

    attributes = [x509.NameAttribute(it.oid, str(it.value).lower()) for it in subject]
    form = x509.Name(attributes).public_bytes()
    digest = hashlib.sha1(form[2:], usedforsecurity=False).digest()
    return digest[3::-1].hex()


def _generated() -> tuple[bytes, bytes]:
    """Return a new CA's private key and certificate, PEM.

    The key is on P-256, which signs much faster than RSA.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name.from_rfc4514_string("O=WAREX,CN=WAREX testing CA")
    signs_certificates = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .serial_number(x509.random_serial_number())
        # For clients whose clock is behind.
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=3650))
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        .add_extension(signs_certificates, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return (
        key.private_bytes(
            pem, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        ),
        certificate.public_bytes(pem),
    )
