"""The addresses that a trial's command is told of: which lead to this machine's loopback, and how.

A namespace has a loopback of its own, so a port of this machine's must be let through to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from warex.linux.proc_net import listening
from warex.proxy.interception import CANARY_HOST
from warex.sandbox.namespace.host_ports import (
    direct_loopback_warning,
    is_model_endpoint,
    loopback_ports_in,
    loopback_ports_in_environment,
)
from warex.traffic import origin_of

AGENT_ENDED: Final = "WAREX_AGENT_ENDED"
"""The variable with the address that a harness asks once its agent has ended, before it judges."""

_COMMAND: Final = "the benchmark's command"


def agent_ended_url(nonce: str) -> str:
    """Return the address by which a harness says that its agent has ended."""
    return f"http://{CANARY_HOST}/{nonce}"


def loopback_ports(
    named: Iterable[str], perhaps: Iterable[str], variables: Mapping[str, str]
) -> frozenset[int]:
    """Return the ports of this machine's loopback that a command needs.

    ``named`` are texts that speak of this machine; ``perhaps``, and the values of ``variables``
    whose names tell where a service is (``OPENAI_BASE_URL``), may as well speak of one that the
    command starts for itself: their ports count where somebody listens on this machine.
    """
    sure = loopback_ports_in(" ".join(named))
    found = loopback_ports_in(" ".join(perhaps)) | loopback_ports_in_environment(variables).keys()
    return frozenset(sure | (found & listening() if found - sure else set()))


def loopback_notices(
    named: Mapping[int, str], perhaps: Iterable[str], variables: Mapping[str, str], *, seen: bool
) -> Iterator[str]:
    """Yield what a user should know of the services that commands find on this machine's loopback.

    ``named`` are ports with who names them; ``seen`` is whether the proxy sees what goes there, as
    it does in a namespace.
    """
    found = {port: _COMMAND for port in loopback_ports_in(" ".join(perhaps))}
    found |= loopback_ports_in_environment(variables)
    found |= named
    there = listening() if found else set()
    for port, name in sorted(found.items()):
        is_base = port in named or is_model_endpoint(name)
        if port not in there:
            # Where another text names it, the command may well start it.
            if is_base:
                yield f"{name} names port {port} of this machine's loopback: nobody listens there"
        elif seen:
            if port not in named:
                yield f"let through to this machine's loopback: port {port}, which {name} names"
        elif is_base or name == _COMMAND:
            yield direct_loopback_warning(name, port)


def hosts_of(*urls: str) -> tuple[str, ...]:
    """Return the hosts of those texts that have one."""
    hosts = (urlsplit(url).hostname for url in urls)
    return tuple(filter(None, hosts))


def endpoint_maps(endpoints: Sequence[str], target: str) -> list[str]:
    """Return maps that serve what a harness hard-codes from where the model really is."""
    origins = {origin_of(endpoint) for endpoint in endpoints}
    return [f"{origin}={target}" for origin in sorted(origins) if origin != target]
