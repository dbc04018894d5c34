"""A text is an IP address or none."""

from ipaddress import IPv4Address, IPv6Address

from warex.lane.record.ip_address import parse_ip


def test_addresses_of_both_families_are_parsed_and_names_are_not() -> None:
    assert parse_ip("192.0.2.1") == IPv4Address("192.0.2.1")
    assert parse_ip("2001:db8::1") == IPv6Address("2001:db8::1")
    for name in ("", "shop.test", "192.0.2", "[2001:db8::1]"):
        assert parse_ip(name) is None
