"""mitmproxy's TLS, where a name that a client gives cannot break it.

OpenSSL refuses to check a certificate against some names: with a dot at the end, of one letter,
with characters that no host has. mitmproxy takes that for an error of its own.
"""

from functools import lru_cache
from ipaddress import ip_address

from mitmproxy import tls
from mitmproxy.addons import tlsconfig
from OpenSSL import SSL


class WarexTlsConfig(tlsconfig.TlsConfig):
    """Lets a handshake fail, and no trial, where the site's name cannot be checked."""

    name = "tlsconfig"
    """As whoever looks for it knows it."""

    def tls_start_server(self, tls_start: tls.TlsData) -> None:
        """Begin TLS with the site; without a context mitmproxy gives the connection up."""
        client, server = tls_start.context.client, tls_start.context.server
        address = server.address[0] if server.address else ""
        # The dot that ends a whole name belongs to no certificate (RFC 6066 §3).
        server.sni = (server.sni or client.sni or address).removesuffix(".")
        if is_checkable(server.sni):
            super().tls_start_server(tls_start)


@lru_cache(maxsize=4096)
def is_checkable(name: str) -> bool:
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
