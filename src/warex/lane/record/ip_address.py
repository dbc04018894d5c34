"""Parses IP addresses."""

from ipaddress import IPv4Address, IPv6Address, ip_address

from warex.text.short_cache import cached_if_short


@cached_if_short(maxsize=1024)
def parse_ip(text: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address that a text is, if it is one."""
    try:
        return ip_address(text)
    except ValueError:
        return None
