"""The TLS contexts with which sites are asked."""

import os
import ssl
from pathlib import Path

from msgspec import Struct


class TrustStore(Struct, frozen=True):
    """The certificates that sites are verified with, as OpenSSL's CA file and CA path.

    Of a folder, only the certificates that are asked for are read.
    """

    file: Path | None
    folder: Path | None = None
    system_folder: Path | None = None


class SiteContexts:
    """One TLS context for each set of protocols that a client offers."""

    def __init__(self, trust: TrustStore, *, insecure: bool = False) -> None:
        self._trust = trust
        self._insecure = insecure
        self._contexts: dict[tuple[bytes, ...], ssl.SSLContext] = {}

    def context(self, protocols: tuple[bytes, ...]) -> ssl.SSLContext:
        """Return the context that offers these protocols by ALPN, in their order."""
        context = self._contexts.get(protocols)
        if context is None:
            context = self._contexts[protocols] = self._make(protocols)
        return context

    def _make(self, protocols: tuple[bytes, ...]) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # As browsers do: many sites have certificates that the strict mode refuses.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if self._insecure:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        else:
            trust = self._trust
            folders = [str(it) for it in (trust.folder, trust.system_folder) if it is not None]
            context.load_verify_locations(trust.file, os.pathsep.join(folders) or None)
        if protocols:
            context.set_alpn_protocols([it.decode("ascii") for it in protocols])
        return context
