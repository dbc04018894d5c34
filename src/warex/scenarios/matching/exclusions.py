"""The built-in exclusions: URLs that no fault is applied to and no rule counts.

Chromium sends background traffic at every start, also with background networking, component updates
and sync switched off. Faults there measure nothing, and its number varies.
"""

from typing import Final

from warex.scenarios.matching.url_patterns import any_of, normalise
from warex.text.short_cache import cached_if_short
from warex.traffic import BACKGROUND_HOSTS

EXCLUSIONS: Final = (
    *(f"*://{host}/*" for host in BACKGROUND_HOSTS),
    "https://accounts.google.com/ListAccounts*",
    "*://*/favicon.ico",
    "*://*/favicon.ico?*",
    "*://*/generate_204",
    "*://*/service/update2/json*",
    # Certificate checks: OCSP (RFC 6960) responders and revocation lists.
    "http://ocsp.*",
    "http://*/ocsp/*",
    "http://crl.*",
    "http://*/*.crl",
)
"""URL globs of the browser's background traffic, favicons and certificate checks."""

_IS_NEVER: Final = any_of(EXCLUSIONS)


@cached_if_short(maxsize=1024)
def is_background(url: str) -> bool:
    """Return whether a URL matches ``EXCLUSIONS``."""
    return _IS_NEVER(normalise(url))
