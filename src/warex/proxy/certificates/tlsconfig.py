"""mitmproxy's TLS, where a name that a client gives cannot break it.

OpenSSL refuses to check a certificate against some names: with a dot at the end, of one letter,
with characters that no host has. mitmproxy takes that for an error of its own.
"""

from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from mitmproxy import ctx, tls
from mitmproxy.addons import tlsconfig
from mitmproxy.net import tls as net_tls
from OpenSSL import SSL

from warex.proxy.certificates.ca import CertificateAuthority, system_bundle
from warex.proxy.certificates.store import load_store

_OF_THE_STORE = frozenset({"certs", "confdir", "key_size", "cert_passphrase"})


class WarexTlsConfig(tlsconfig.TlsConfig):
    """Lets a handshake fail, and no trial, where the site's name cannot be checked."""

    name = "tlsconfig"
    """As whoever looks for it knows it."""

    def running(self) -> None:
        """Read the authority; its place is told before there is anybody to tell."""
        self.configure({"confdir"})

    def configure(self, updated: set[str]) -> None:
        """Take in what was set; raise OSError or ValueError where there is no authority."""
        if "confdir" in updated:
            self.certstore = load_store(Path(ctx.options.confdir))
        super().configure(set(updated) - _OF_THE_STORE)  # type: ignore[no-untyped-call]

    def tls_start_server(self, tls_start: tls.TlsData) -> None:
        """Begin TLS with the site; without a context mitmproxy gives the connection up."""
        client, server = tls_start.context.client, tls_start.context.server
        address = server.address[0] if server.address else ""
        # The dot that ends a whole name belongs to no certificate (RFC 6066 §3).
        server.sni = (server.sni or client.sni or address).removesuffix(".")
        if is_verifiable(server.sni):
            super().tls_start_server(tls_start)


def preload_trust_store(ca: Path) -> None:
    """Read the certificates that this machine trusts, before the fork.

    mitmproxy keeps what it has read for these very arguments in their order, so a lane need not
    read the same again at its first connection to a site.
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
    """Where certificates lie that sites may be served by, as OpenSSL takes them."""

    file: str
    folder: str


def trust_store(ca: Path) -> TrustStore:
    """Return what this machine trusts, and our own CA: a local site may be served by it."""
    return TrustStore(str(system_bundle()), str(CertificateAuthority(ca).hashed_dir))


@lru_cache(maxsize=4096)
def is_verifiable(name: str) -> bool:
    """Whether OpenSSL can check a certificate against this host."""
    try:
        ip_address(name)
    except ValueError:
        pass
    else:
        return True
    try:
        encoded = name.encode("idna")
    except UnicodeError:
        return False
    library = SSL._lib  # type: ignore[attr-defined]
    # A connection of its own: a name that is refused may leave something behind.
    connection = SSL.Connection(SSL.Context(SSL.TLS_METHOD))
    parameters = library.SSL_get0_param(connection._ssl)
    is_taken: bool = library.X509_VERIFY_PARAM_set1_host(parameters, encoded, len(encoded)) == 1
    if not is_taken:
        # What OpenSSL has to say about it would be taken for the next one's error.
        library.ERR_clear_error()
    return is_taken and len(encoded) <= 255
