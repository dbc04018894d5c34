"""Certificates for clients, signed by WAREX's own CA, and the TLS contexts that show them."""

import datetime
import ipaddress
import ssl
import tempfile
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from warex.engine.handler import CertificateDefect

_ANOTHER_HOST: Final = "another-host.invalid"
_DAY: Final = datetime.timedelta(days=1)
_MOST_NAME: Final = 64
"""Maximum characters of a common name (RFC 5280, ub-common-name)."""
_MOST_CONTEXTS: Final = 1024


type SigningKey = ec.EllipticCurvePrivateKey | RSAPrivateKey


class CertificateError(ValueError):
    """No certificate can be made for a host."""


class ServerContexts:
    """The TLS contexts with which clients are served: one for each host and protocol.

    A context keeps the keys of its session tickets, so clients can resume their sessions.
    """

    def __init__(self, authority: Path) -> None:
        """``authority``: the file of the CA's key and certificate, PEM."""
        self._authority = authority
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._contexts: OrderedDict[tuple[str, str | None], ssl.SSLContext] = OrderedDict()

    @cached_property
    def _ca(self) -> tuple[x509.Certificate, SigningKey]:
        return load_authority(self._authority)

    def context(self, host: str, protocol: str | None) -> ssl.SSLContext:
        """Return the context for a host that offers one protocol by ALPN, or none.

        Raises CertificateError if no certificate can be made for the host.
        """
        wanted = host, protocol
        context = self._contexts.get(wanted)
        if context is not None:
            self._contexts.move_to_end(wanted)
            return context
        if len(self._contexts) >= _MOST_CONTEXTS:
            self._contexts.popitem(last=False)
        authority, authority_key = self._ca
        leaf = good_leaf(host, self._key, authority, authority_key)
        made = self._contexts[wanted] = _server_context(leaf, self._key, protocol, authority)
        return made

    def defective(
        self, host: str, protocol: str | None, defect: CertificateDefect
    ) -> ssl.SSLContext:
        """Return a new context for a host whose certificate has exactly one defect.

        It has its own key, and the CA is not sent with it: browsers that trust WAREX by its CA's
        public key would accept it otherwise. Each connection has its own context, since a resumed
        session (RFC 8446 §2.2) sends no certificate.
        """
        leaf, key = defective_leaf(defect, host, *self._ca)
        return _server_context(leaf, key, protocol)


def load_authority(path: Path) -> tuple[x509.Certificate, SigningKey]:
    """Return the certificate and the key of a CA from one file, PEM.

    Raises CertificateError if the key cannot sign.
    """
    pem = path.read_bytes()
    # WAREX made the key on this machine; checking an RSA key's primes takes long.
    key = load_pem_private_key(pem, None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, ec.EllipticCurvePrivateKey | RSAPrivateKey):
        raise CertificateError(f"the key in {path} signs no certificates")
    return x509.load_pem_x509_certificates(pem)[0], key


def general_name(host: str) -> x509.GeneralName:
    """Return a host as the subject of a certificate."""
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _server_context(
    leaf: x509.Certificate,
    key: ec.EllipticCurvePrivateKey,
    protocol: str | None,
    *chain: x509.Certificate,
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pem = b"".join(it.public_bytes(Encoding.PEM) for it in (leaf, *chain))
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    # ``ssl`` reads certificates from files only; this one is the owner's alone.
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(secret + pem)
        file.flush()
        context.load_cert_chain(file.name)
    if protocol is not None:
        context.set_alpn_protocols([protocol])
    return context


def good_leaf(
    host: str,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    authority_key: SigningKey,
) -> x509.Certificate:
    """Return a certificate for a host. Raises CertificateError if none can name it."""
    try:
        named = general_name(host)
    except ValueError:
        raise CertificateError(f"no certificate names the host {host!r}") from None
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(host))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # For clients whose clock is behind.
        .not_valid_before(now - 2 * _DAY)
        .not_valid_after(now + 300 * _DAY)
        .add_extension(x509.SubjectAlternativeName([named]), critical=not host)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_authority_id(authority), critical=False)
        .sign(authority_key, SHA256())
    )


def defective_leaf(
    defect: CertificateDefect,
    host: str,
    authority: x509.Certificate,
    authority_key: SigningKey,
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Return a certificate with exactly one defect, and its key.

    Clients may check other fields first, so key identifiers, names and purposes are correct
    (RFC 5280 §4.2.1).
    """
    key = ec.generate_private_key(ec.SECP256R1())
    named = _ANOTHER_HOST if defect == "wrong_host" else host
    subject = _name(named)
    issuer, issuer_id = authority.subject, _authority_id(authority)
    issuer_key = authority_key
    if defect == "self_signed":
        issuer, issuer_key = subject, key
    elif defect == "unknown_ca":
        issuer, issuer_key = _name("Unlisted Issuing CA"), ec.generate_private_key(ec.SECP256R1())
    if defect in ("self_signed", "unknown_ca"):
        issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    today = datetime.datetime.now(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    ends = today - 3 * _DAY if defect == "expired" else today + 90 * _DAY
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ends - 180 * _DAY)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([general_name(named)]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(issuer_id, critical=False)
        .sign(issuer_key, SHA256())
    )
    return certificate, key


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:_MOST_NAME] or "-")])


def _authority_id(authority: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    try:
        own = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        own = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own)
