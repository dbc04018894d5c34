"""TLS sessions with sites, which later connections resume as a browser's would."""

import ssl
from typing import Final

from msgspec import Struct

from warex.engine.handler import Address
from warex.text.latest import Latest

_MOST: Final = 64
"""Sites of which a session is kept: it has the site's certificates."""


class SecuredSite(Struct, frozen=True):
    """Key of a session: it is resumed only with the same name, address and ALPN offer."""

    name: str
    address: Address
    protocols: tuple[bytes, ...]


class SiteSessions:
    """What connections to sites resume; each handler has its own, so sites see no trial in another.

    A session is used until its site refuses it: then both shake hands in full, and the next one is
    kept.
    """

    def __init__(self) -> None:
        self._sessions = Latest[SecuredSite, ssl.SSLSession](_MOST)

    def of(self, site: SecuredSite) -> ssl.SSLSession | None:
        """Return what the next connection to a site offers to resume."""
        return self._sessions.get(site)

    def keep(self, site: SecuredSite, connection: ssl.SSLObject) -> None:
        """Keep the session of a connection on which the site has answered.

        In TLS 1.3 what can be resumed comes after the handshake (RFC 8446 §4.6.1).
        """
        session = connection.session
        if session is not None and (session.has_ticket or connection.version() != "TLSv1.3"):
            self._sessions[site] = session

    def forget(self, site: SecuredSite) -> None:
        """Forget a session that its site has refused."""
        self._sessions.pop(site, None)
