"""The hosts that WAREX answers itself; no rule concerns them, and no name service knows them."""

from typing import Final

from warex.faults import CATALOGUE
from warex.faults.own_site import HostedSite

CANARY_HOST: Final = "canary.warex.test"
"""Answered with the requested nonce."""
TASK_HOST: Final = "warex.invalid"
"""A request to it begins or ends a task; the name is reserved (RFC 6761 §6.4)."""

FAULT_SITES: Final[dict[str, tuple[str, HostedSite]]] = {
    host: (fault.model_fields["kind"].default, fault.own_site)
    for fault in CATALOGUE
    if fault.own_site is not None
    for host in fault.own_site.hosts
}
"""By host: the kind of the fault whose site it is, and the site."""
FAULT_HOSTS: Final = tuple(FAULT_SITES)

RESERVED_HOSTS: Final = (CANARY_HOST, TASK_HOST, *FAULT_HOSTS)
_AS_ENDINGS: Final = tuple(f".{host}" for host in RESERVED_HOSTS)


def is_reserved(host: str) -> bool:
    """Whether a host is one of WAREX's own or a subdomain of one; a final dot is allowed."""
    return f".{host.lower().rstrip('.')}".endswith(_AS_ENDINGS)
