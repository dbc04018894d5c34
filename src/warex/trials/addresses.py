"""Addresses in a trial's command that refer to this machine's loopback.

A namespace has its own loopback, so these ports must be passed through to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from warex.lane.hosts.own_hosts import CANARY_HOST
from warex.linux.proc_net import listening
from warex.sandbox.namespace.host_ports import (
    direct_loopback_warning,
    is_model_endpoint,
    loopback_ports_in,
    loopback_ports_in_environment,
)
from warex.traffic import origin_of

AGENT_ENDED: Final = "WAREX_AGENT_ENDED"
"""Variable with the URL that a harness requests after its agent has ended and before judging."""

_COMMAND: Final = "the benchmark's command"


def agent_ended_url(nonce: str) -> str:
    """Return the URL by which a harness reports that its agent has ended."""
    return f"http://{CANARY_HOST}/{nonce}"


def loopback_ports(
    named: Iterable[str], perhaps: Iterable[str], variables: Mapping[str, str]
) -> frozenset[int]:
    """Return the ports of this machine's loopback that a command needs.

    ``named`` are texts that refer to this machine. ``perhaps``, and the values of ``variables``
    that name a service (``OPENAI_BASE_URL``), may refer to a service that the command itself
    starts: their ports count only if a program listens on this machine.
    """
    sure = loopback_ports_in(" ".join(named))
    candidates = (
        loopback_ports_in(" ".join(perhaps)) | loopback_ports_in_environment(variables).keys()
    )
    return frozenset(sure | (candidates & listening() if candidates - sure else set()))


def loopback_notices(
    named: Mapping[int, str], perhaps: Iterable[str], variables: Mapping[str, str], *, seen: bool
) -> Iterator[str]:
    """Yield notices about the services on this machine's loopback that commands may contact.

    ``named`` maps ports to what names them; ``seen``: whether the proxy sees that traffic, as in a
    namespace.
    """
    candidates = {port: _COMMAND for port in loopback_ports_in(" ".join(perhaps))}
    candidates |= loopback_ports_in_environment(variables)
    candidates |= named
    open_ports = listening() if candidates else set()
    for port, name in sorted(candidates.items()):
        is_base = port in named or is_model_endpoint(name)
        if port not in open_ports:
            # A port in another text may be one that the command serves.
            if is_base:
                yield f"{name} names port {port} of this machine's loopback: nothing listens there"
        elif seen:
            if port not in named:
                yield f"let through to this machine's loopback: port {port}, which {name} names"
        elif is_base or name == _COMMAND:
            yield direct_loopback_warning(name, port)


def hosts_of(*urls: str) -> tuple[str, ...]:
    """Return the hosts of those texts that have one."""
    return tuple(filter(None, (urlsplit(url).hostname for url in urls)))


def endpoint_maps(endpoints: Sequence[str], target: str) -> list[str]:
    """Return maps from a harness's hard-coded endpoints to the model's real address."""
    origins = {origin_of(endpoint) for endpoint in endpoints}
    return [f"{origin}={target}" for origin in sorted(origins) if origin != target]
