"""Parses IP addresses."""

from ipaddress import IPv4Address, IPv6Address, ip_address


def parse_ip(text: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address that a text is, if it is one."""
    try:
        return ip_address(text)
    except ValueError:
        return None
