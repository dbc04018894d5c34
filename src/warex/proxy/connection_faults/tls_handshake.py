"""TLS faults: invalid certificates, and connections closed at the ClientHello.

A bad certificate has its own key, and the CA is not sent with it: browsers that trust WAREX by its
CA's public key (Chromium's ``--ignore-certificate-errors-spki-list``) would accept it otherwise.
Each such connection has its own TLS context, since a resumed session (RFC 8446 §2.2) sends no
certificate.
"""

import datetime
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from mitmproxy import connection, ctx, tls
from mitmproxy.addons import tlsconfig
from mitmproxy.net import tls as net_tls
from OpenSSL import SSL

from warex.effects import BadCertificate, CertificateDefect, Cut
from warex.lane.connection_faults.tries import ConnectionTries
from warex.proxy.certificates.ca import general_name
from warex.proxy.net.client_socket import is_connected, writer_of
from warex.scenarios import PlannedInjection

_ANOTHER_HOST: Final = "another-host.invalid"
_DAY: Final = datetime.timedelta(days=1)
_MOST_NAME: Final = 64
"""Maximum characters of a common name (RFC 5280, ub-common-name)."""


@dataclass(slots=True)
class _BadHandshake:
    """A connection with a bad certificate."""

    injection: PlannedInjection
    wrong: CertificateDefect
    host: str
    shown: bool = False
    """Whether the client was connected when the certificate was sent."""


class HandshakeFaults:
    """Applies TLS faults to clients' connections."""

    def __init__(self, tries: ConnectionTries) -> None:
        self._tries = tries
        self._handshakes: dict[str, _BadHandshake] = {}

    def client_hello(self, client: connection.Client, host: str, port: int) -> bool:
        """Count a connection that begins TLS; return whether a fault is applied to it."""
        for injection in self._tries.plan("tls", host, port):
            for effect in injection.effects:
                if isinstance(effect, BadCertificate):
                    self._handshakes[client.id] = _BadHandshake(injection, effect.wrong, host)
                    return True
                if isinstance(effect, Cut):
                    waiting = is_connected(client)
                    if waiting and (writer := writer_of(client)) is not None:
                        writer.close()
                    self._tries.settle(injection, delivered=waiting)
                    return True
        return False

    def start(self, data: tls.TlsData) -> None:
        """Replace the good certificate by the bad one, if a fault is applied."""
        hit = self._handshakes.get(data.context.client.id)
        if hit is None or data.ssl_conn is None:
            return
        hit.shown = is_connected(data.context.client)
        store = ctx.master.addons.get("tlsconfig").certstore
        authority = store.default_ca.to_cryptography()
        certificate, key = bad_certificate(hit.wrong, hit.host, authority, store.default_privatekey)
        context = net_tls.create_client_proxy_context.__wrapped__(
            method=net_tls.Method.TLS_SERVER_METHOD,
            min_version=net_tls.Version[ctx.options.tls_version_client_min],
            max_version=net_tls.Version[ctx.options.tls_version_client_max],
            cipher_list=None,
            ecdh_curve=None,
            chain_file=None,
            request_client_cert=False,
            alpn_select_callback=tlsconfig.alpn_select_callback,
            extra_chain_certs=(),
            dhparams=store.dhparams,
        )
        bad = SSL.Connection(context)
        bad.use_certificate(certificate)
        bad.use_privatekey(key)
        bad.set_app_data(data.ssl_conn.get_app_data())
        bad.set_accept_state()
        data.ssl_conn = bad

    def handshake_ended(self, client: connection.Client) -> bool:
        """Note that a handshake has ended; return whether a fault was applied to it."""
        hit = self._handshakes.pop(client.id, None)
        if hit is not None:
            self._tries.settle(hit.injection, delivered=hit.shown)
        return hit is not None


@lru_cache(maxsize=256)
def bad_certificate(
    wrong: CertificateDefect,
    host: str,
    authority: x509.Certificate,
    authority_key: CertificateIssuerPrivateKeyTypes,
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Return a certificate for a host with exactly one defect, and its key.

    Clients may check other fields first, so key identifiers, names and purposes are correct
    (RFC 5280 §4.2.1).
    """
    key = ec.generate_private_key(ec.SECP256R1())
    named = _ANOTHER_HOST if wrong == "wrong_host" else host
    subject = _name(named)
    issuer, issuer_key, issuer_id = authority.subject, authority_key, _authority_id(authority)
    if wrong == "self_signed":
        issuer, issuer_key = subject, key
    elif wrong == "unknown_ca":
        issuer, issuer_key = _name("Unlisted Issuing CA"), ec.generate_private_key(ec.SECP256R1())
    if wrong in ("self_signed", "unknown_ca"):
        issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    today = datetime.datetime.now(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    ends = today - 3 * _DAY if wrong == "expired" else today + 90 * _DAY
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
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:_MOST_NAME])])


def _authority_id(authority: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    try:
        own = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        own = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own)
