"""What no fault touches and no rule counts, whatever the scenario says.

Chromium talks to its maker at every start, whatever the task (seen with background networking,
component updates and sync switched off too). Faults there measure nothing, and counting it would
make a scenario depend on the browser's mood.
"""

from typing import Final

from warex.scenarios.matching.url_patterns import any_of, normalise

BACKGROUND_HOSTS: Final = (
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
    "android.clients.google.com",
    "connectivitycheck.gstatic.com",
    "start.duckduckgo.com",
    "plausible.io",
    "googlechromelabs.github.io",
)
"""Hosts that only the browser itself or its driver asks; no task site lives there."""

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
    """Return whether a URL is of the browser's own background traffic, by ``EXCLUSIONS``."""
    return _IS_NEVER(normalise(url))
