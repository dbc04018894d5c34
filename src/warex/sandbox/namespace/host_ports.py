"""Which loopback ports of this machine a command needs to reach from its namespace.

A namespace has a loopback of its own: a model served on the host's port 8000 is not there. Ports
that somebody names are let through to the proxy; all others belong to the command's own services.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_LOOPBACK_URL = re.compile(
    r"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|(?<![\w-])[\w-]+\.localhost|0\.0\.0\.0):(\d{1,5})(?!\d)",
    re.IGNORECASE,
)
_ENDPOINTS = ("_URL", "_URI", "_BASE_URL", "_ENDPOINT", "_API_BASE", "_BASE", "_HOST")
"""How the variables end that tell programs where a service is."""
_ENDPOINTS_BY_SERVICE = "AWS_ENDPOINT_URL_"
"""How those begin that AWS's SDKs read: ``AWS_ENDPOINT_URL_BEDROCK_RUNTIME``."""
_OF_MODELS = re.compile(
    r"(.*_)?(BASE_URL|API_BASE)|OLLAMA_HOST|AZURE_OPENAI_ENDPOINT|CO_API_URL"
    rf"|{_ENDPOINTS_BY_SERVICE}BEDROCK_RUNTIME",
    re.IGNORECASE,
)
_LISTENING = "0A"
"""A socket's state in /proc/net/tcp (TCP_LISTEN of linux/tcp_states.h)."""
_LITTLE = sys.byteorder == "little"
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def named_in(text: str) -> set[int]:
    """Return the ports of loopback addresses in a text: a scenario, a URL, a command line."""
    return {port for found in _LOOPBACK_URL.findall(text) if 0 < (port := int(found)) < 65536}


def named_by_environment(environment: Mapping[str, str]) -> dict[int, str]:
    """Return the loopback ports that variables such as ``OPENAI_BASE_URL`` name, with the name."""
    found: dict[int, str] = {}
    for name, value in environment.items():
        upper = name.upper()
        if upper.endswith(_ENDPOINTS) or upper.startswith(_ENDPOINTS_BY_SERVICE):
            for port in named_in(value):
                found.setdefault(port, name)
    return found


def names_a_model(variable: str) -> bool:
    """Tell whether clients of models, and harnesses of sites, read this variable's address."""
    return _OF_MODELS.fullmatch(variable) is not None


def gone_past(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """Yield what to say of services on this machine that a command asks past the proxy.

    Without a namespace loopback stays direct for programs. Only what listens now is spoken of.
    """
    found = dict.fromkeys(set().union(*map(named_in, arguments)), "the command line")
    found |= {
        p: name for p, name in named_by_environment(environment).items() if names_a_model(name)
    }
    there = listening() if found else set()
    yield from (
        said_of_gone_past(name, port) for port, name in sorted(found.items()) if port in there
    )


def said_of_gone_past(name: str, port: int) -> str:
    """Return the sentence on one service, and who names it."""
    return (
        f"{name} names port {port} of this machine's loopback, and what programs ask there goes"
        " past the proxy without a namespace: no call is recorded, no fault reaches it. Write"
        f" http://local.test:{port} there, and give --map"
        f" http://local.test:{port}=http://{loopback_of(port)}:{port}"
    )


def tables_of(pid: int) -> tuple[Path, ...]:
    """Return where the kernel tells of the sockets in a process's network."""
    return tuple(Path(f"/proc/{pid}/net/{name}") for name in ("tcp", "tcp6"))


def listening(tables: Iterable[Path] = _TABLES) -> set[int]:
    """Return the TCP ports of loopback on which a network has a listener, by default our own.

    None where it does not tell.
    """
    return {
        port
        for address, port, _, state in _sockets(tables)
        if state == _LISTENING and _is_local(address)
    }


def loopback_of(port: int, tables: Iterable[Path] = _TABLES) -> str:
    """Return the loopback address on which a port listens, as URLs spell it (RFC 3986, 3.2.2).

    That of IPv4, except where only ::1 listens.
    """
    sockets = _sockets(tables)
    at = {address for address, own, _, state in sockets if (own, state) == (port, _LISTENING)}
    local = {address for address in at if _is_local(address)}
    return "[::1]" if local and all(map(_is_v6_loopback, local)) else "127.0.0.1"


def used(tables: Iterable[Path]) -> set[int]:
    """Return the TCP ports at either end of the connections that are, or were within a minute."""
    ended = [ports for _, *ports, state in _sockets(tables) if state != _LISTENING]
    return {port for ports in ended for port in ports}


def _sockets(tables: Iterable[Path]) -> Iterator[tuple[str, int, int, str]]:
    """Give each socket's own address, in hexadecimal, its port, the other end's port, its state."""
    for table in tables:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            # proc(5): "sl local_address rem_address st …", an address as HEX:PORT.
            _, local, remote, state, *_ = line.split()
            address, _, port = local.rpartition(":")
            yield address, int(port, 16), int(remote.rpartition(":")[2], 16), state


def _is_local(address: str) -> bool:
    """Whether a listener's address is reached by way of loopback; words are in the host's order."""
    if len(address) == 8:
        return address == "00000000" or bytes.fromhex(address)[-1 if _LITTLE else 0] == 127
    words = [address[at : at + 8] for at in range(0, 32, 8)]
    if words[2] in ("FFFF0000", "0000FFFF"):
        return _is_local(words[3])  # IPv4, written as IPv6.
    return words[:3] == ["00000000"] * 3 and words[3] in ("00000000", "01000000", "00000001")


def _is_v6_loopback(address: str) -> bool:
    return len(address) == 32 and address[:24] == "0" * 24 and int(address[24:], 16) != 0
