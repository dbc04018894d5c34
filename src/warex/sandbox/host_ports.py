"""Which loopback ports of this machine a command needs to reach from its namespace.

A namespace has a loopback of its own: a model served on the host's port 8000 is not there. Ports
that somebody names are let through to the proxy; all others belong to the command's own services.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_LOOPBACK_URL = re.compile(
    r"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|(?<![\w-])[\w-]+\.localhost|0\.0\.0\.0):(\d{1,5})(?!\d)",
    re.IGNORECASE,
)
_ENDPOINTS = ("_URL", "_URI", "_BASE_URL", "_ENDPOINT", "_API_BASE", "_BASE", "_HOST")
"""How the variables end that tell programs where a service is."""
_LISTENING = "0A"
"""A socket's state in /proc/net/tcp (TCP_LISTEN of linux/tcp_states.h)."""
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def named_in(text: str) -> set[int]:
    """Return the ports of loopback addresses in a text: a scenario, a URL, a command line."""
    return {port for found in _LOOPBACK_URL.findall(text) if 0 < (port := int(found)) < 65536}


def named_by_environment(environment: Mapping[str, str]) -> dict[int, str]:
    """Return the loopback ports that variables such as ``OPENAI_BASE_URL`` name, with the name."""
    found: dict[int, str] = {}
    for name, value in environment.items():
        if name.upper().endswith(_ENDPOINTS):
            for port in named_in(value):
                found.setdefault(port, name)
    return found


def listening(tables: Iterable[Path] = _TABLES) -> set[int]:
    """Return the TCP ports on which this machine listens; none where it does not tell."""
    return set(_listening(tables))


def _listening(tables: Iterable[Path]) -> Iterator[int]:
    for table in tables:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            # proc(5): "sl local_address rem_address st …", an address as HEX:PORT.
            _, local, _, state, *_ = line.split()
            if state == _LISTENING:
                yield int(local.rpartition(":")[2], 16)
