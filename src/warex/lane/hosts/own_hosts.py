"""The hosts that WAREX answers itself; no rule concerns them, and no name service knows them.

Importing all faults is slow, so it is done only for a host in the form of a fault's site.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Final, override

from warex.faults import kind_of
from warex.faults.own_site import HostedSite, is_unregistrable
from warex.text.short_cache import cached_if_short

CANARY_HOST: Final = "canary.warex.test"
"""Answered with the requested nonce."""
TASK_HOST: Final = "warex.invalid"
"""A request to it begins or ends a task; the name is reserved (RFC 6761 §6.4)."""


@cache
def fault_sites() -> Mapping[str, tuple[str, HostedSite]]:
    """Return by host: the kind of the fault whose site it is, and the site."""
    from warex.faults import CATALOGUE

    return {
        host: (kind_of(fault), fault.own_site)
        for fault in CATALOGUE
        if fault.own_site is not None
        for host in fault.own_site.hosts
    }


class _Hosts(Collection[str]):
    """Some of WAREX's own hosts, and those of all faults' sites."""

    def __init__(self, *others: str) -> None:
        self._others = others

    @override
    def __contains__(self, host: object) -> bool:
        if not isinstance(host, str):
            return False
        if host[2:4] != "--":  # As of most hosts.
            return host in self._others
        return is_unregistrable(host) and host in fault_sites()

    @override
    def __iter__(self) -> Iterator[str]:
        yield from (*self._others, *fault_sites())

    @override
    def __len__(self) -> int:
        return len(self._others) + len(fault_sites())


FAULT_HOSTS: Final = _Hosts()
RESERVED_HOSTS: Final = _Hosts(CANARY_HOST, TASK_HOST)
_AS_ENDINGS: Final = tuple(f".{host}" for host in (CANARY_HOST, TASK_HOST))


@cached_if_short(maxsize=1024)
def is_reserved(host: str) -> bool:
    """Whether a host is one of WAREX's own or a subdomain of one; a final dot is allowed."""
    name = host.lower().rstrip(".")
    return f".{name}".endswith(_AS_ENDINGS) or ".".join(name.rsplit(".", 2)[-2:]) in FAULT_HOSTS
