"""The built-in exclusions: URLs that no fault is applied to and no rule counts.

Chromium sends background traffic at every start, also with background networking, component updates
and sync switched off. Faults there measure nothing, and its number varies.
"""

from typing import Final

from warex.scenarios.matching.url_patterns import any_of, normalise

BACKGROUND_HOSTS: Final = (
    "clients1.google.com",
    "clients2.google.com",
    "clients4.google.com",
    "clientservices.googleapis.com",
    "update.googleapis.com",
    "edgedl.me.gvt1.com",
    "redirector.gvt1.com",
    "optimizationguide-pa.googleapis.com",
    "content-autofill.googleapis.com",
    "safebrowsing.googleapis.com",
    "safebrowsingohttpgateway.googleapis.com",
    "passwordsleakcheck-pa.googleapis.com",
    "chromewebstore.googleapis.com",
    "mtalk.google.com",
    "android.clients.google.com",
    "connectivitycheck.gstatic.com",
    "start.duckduckgo.com",
    "plausible.io",
    "googlechromelabs.github.io",
)
"""Hosts that only the browser itself or its driver uses; none is a task site."""

SIGN_IN_HOSTS: Final = ("accounts.google.com",)
"""Hosts to which a browser also connects by itself, before it has a page.

A connection try does not show whose it is: only a rule that names the host, or a task site, is
about it.
"""

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


def is_background(url: str) -> bool:
    """Return whether a URL matches ``EXCLUSIONS``."""
    return _IS_NEVER(normalise(url))
