"""A namespace's virtual addresses: each name has its own, so that an address identifies the name.

A connection without a host name is attributed by its address, and the namespace's rules, which
match addresses, can refuse the connections to one host alone.
"""

import ipaddress
from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct

from warex.lane.record.ip_address import parse_ip

V4: Final = ipaddress.ip_network("198.18.0.0/15")
"""Reserved for benchmarks of network devices (RFC 2544): no site has such an address."""
V6: Final = ipaddress.ip_network("fd5a:8e37:c1d2::/96")
"""A local prefix (RFC 4193); its last 32 bits are the IPv4 address of the same name."""

_FIRST: Final = int(V4.network_address) + 1
_SIZE: Final = V4.num_addresses - 2
MOST: Final = 2**14
"""Names with an address at one time, some 6 MB of the longest."""
_V6_BASE: Final = int(V6.network_address)


class AddressPair(Struct, frozen=True):
    """The addresses of one name."""

    v4: str
    v6: str


class VirtualAddresses:
    """Assigns addresses to names; when all are assigned, the least recently used is reassigned."""

    def __init__(self, size: int = MOST) -> None:
        self._size = size
        self._numbers: OrderedDict[str, int] = OrderedDict()
        self._names: dict[int, str] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def addresses(self, name: str) -> AddressPair:
        """Return the addresses of a name in any case; assign them if it has none."""
        name = name.lower()
        number = self._numbers.get(name)
        if number is None:
            number = self._allocate()
            self._numbers[name] = number
            self._names[number] = name
        else:
            self._numbers.move_to_end(name)
        return _addresses(number)

    def addresses_of(self, name: str) -> AddressPair:
        """Return the addresses of a name that has some, without marking it as used."""
        return _addresses(self._numbers[name])

    def name_of(self, address: str) -> str | None:
        """Return the name of an address, and mark it as used; None if it has none."""
        number = _number(address)
        name = None if number is None else self._names.get(number)
        if name is not None:
            self._numbers.move_to_end(name)
        return name

    def _allocate(self) -> int:
        if len(self._numbers) < self._size:
            return len(self._numbers)
        _, number = self._numbers.popitem(last=False)
        del self._names[number]
        return number


@lru_cache(maxsize=4096)
def _addresses(number: int) -> AddressPair:
    v4 = _FIRST + number
    return AddressPair(str(ipaddress.IPv4Address(v4)), str(ipaddress.IPv6Address(_V6_BASE + v4)))


def is_virtual(address: str) -> bool:
    """Whether an address is in the range of virtual addresses."""
    return _number(address) is not None


def _number(address: str) -> int | None:
    parsed = parse_ip(address)
    if parsed is None or parsed not in (V4 if parsed.version == 4 else V6):
        return None
    number = (int(parsed) & 0xFFFFFFFF) - _FIRST
    return number if 0 <= number < _SIZE else None
