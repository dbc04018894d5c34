"""mitmproxy's TLS configuration, made robust against invalid host names of clients.

OpenSSL refuses to check a certificate against some names: with a final dot, of one letter, with
invalid characters. mitmproxy raises an error then.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mitmproxy import ctx, tls
from mitmproxy.addons import tlsconfig
from mitmproxy.net import tls as net_tls
from OpenSSL import SSL

from warex.lane.record.ip_address import parse_ip
from warex.proxy.certificates.ca import CertificateAuthority, system_bundle
from warex.proxy.certificates.store import load_store

_OF_THE_STORE = frozenset({"certs", "confdir", "key_size", "cert_passphrase"})


class WarexTlsConfig(tlsconfig.TlsConfig):
    """Fails only the handshake, not the trial, if the site's name cannot be checked."""

    name = "tlsconfig"

    def running(self) -> None:
        """Load the CA: its option is set before this addon is notified of changes."""
        self.configure({"confdir"})

    def configure(self, updated: set[str]) -> None:
        """Apply changed options; raise OSError or ValueError if the CA cannot be loaded."""
        if "confdir" in updated:
            self.certstore = load_store(Path(ctx.options.confdir))
        super().configure(set(updated) - _OF_THE_STORE)  # type: ignore[no-untyped-call]

    def tls_start_server(self, tls_start: tls.TlsData) -> None:
        """Begin TLS with the site; without a context mitmproxy closes the connection."""
        client, server = tls_start.context.client, tls_start.context.server
        address = server.address[0] if server.address else ""
        # Certificates and SNI have no final dot (RFC 6066 §3).
        server.sni = (server.sni or client.sni or address).removesuffix(".")
        if is_verifiable(server.sni):
            super().tls_start_server(tls_start)


def preload_trust_store(ca: Path) -> None:
    """Load the certificates that this machine trusts, before the fork.

    mitmproxy caches the context by exactly these arguments in this order.
    """
    trust = trust_store(ca)
    net_tls.create_proxy_server_context(
        method=net_tls.Method.TLS_CLIENT_METHOD,
        min_version=net_tls.DEFAULT_MIN_VERSION,
        max_version=net_tls.DEFAULT_MAX_VERSION,
        cipher_list=tuple(tlsconfig._default_ciphers(net_tls.DEFAULT_MIN_VERSION)),
        ecdh_curve=net_tls.get_curve(None),
        verify=net_tls.Verify.VERIFY_PEER,
        ca_path=trust.folder,
        ca_pemfile=trust.file,
        client_cert=None,
        legacy_server_connect=False,
    )


class TrustStore(NamedTuple):
    """The certificates that sites are verified with, as OpenSSL's CA file and CA path."""

    file: str
    folder: str


def trust_store(ca: Path) -> TrustStore:
    """Return this machine's trusted certificates and our own CA, which local sites may use."""
    return TrustStore(str(system_bundle()), str(CertificateAuthority(ca).hashed_dir))


@lru_cache(maxsize=4096)
def is_verifiable(name: str) -> bool:
    """Whether OpenSSL can check a certificate against this host."""
    if parse_ip(name) is not None:
        return True
    try:
        encoded = name.encode("idna")
    except UnicodeError:
        return False
    library = SSL._lib  # type: ignore[attr-defined]
    # A separate connection: a refused name may change its state.
    connection = SSL.Connection(SSL.Context(SSL.TLS_METHOD))
    parameters = library.SSL_get0_param(connection._ssl)
    is_taken: bool = library.X509_VERIFY_PARAM_set1_host(parameters, encoded, len(encoded)) == 1
    if not is_taken:
        # OpenSSL's queued error would be reported for the next call.
        library.ERR_clear_error()
    return is_taken and len(encoded) <= 255
