"""Checks how a request names its site."""

import ipaddress
import re
from functools import lru_cache

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~!$&'()*+;=%]+)(?::(?P<port>\d*))?")
_LONGEST_NAME = 253
_LONGEST_LABEL = 63


@lru_cache(maxsize=4096)
def invalid_authority_reason(authority: str) -> str | None:
    """Return why a host and port are invalid (RFC 3986 §3.2), or None."""
    match = _HOST.fullmatch(authority)
    if match is None:
        return "the host has characters that no host has"
    port = match["port"] or "0"
    if len(port) > 5 or int(port) > 65535:
        return "the port is above 65535"
    name = match["name"]
    if name.startswith("["):
        try:
            ipaddress.IPv6Address(name[1:-1])
        except ValueError:
            return "the host is not an IPv6 address"
    return invalid_host_reason(name)


def invalid_host_reason(name: str) -> str | None:
    """Return why a name cannot be looked up (RFC 1035 §2.3.4), or None."""
    labels = name.removesuffix(".").split(".")
    if len(name) > _LONGEST_NAME or not all(0 < len(it) <= _LONGEST_LABEL for it in labels):
        return "the host has an empty or too long part"
    return None
