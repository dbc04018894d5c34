"""Rewrites the resolver's configuration files so that programs use DNS only.

A resolver behind a Unix socket (nscd, systemd-resolved, mDNS) runs outside the namespace.
"""

import re
from collections.abc import Iterator
from typing import Final

NAMESERVER: Final = "192.0.2.53"
"""Any address works: the rules redirect port 53."""
TIMEOUT: Final = 2
"""Seconds of one try. WAREX answers in milliseconds, on a machine that does too much in seconds.
One try of two, since some clients give up after the first."""

_SETTINGS: Final = ("search", "domain")
_OPTION: Final = re.compile(r"\bndots:\d+")
_LOCAL: Final = re.compile(
    r"localhost|(.+\.)?localhost\d?(\.localdomain\d?)?|ip6-(localhost|loopback)|loopback",
    re.IGNORECASE,
)


def resolv_conf(content: str) -> str:
    """Return resolv.conf with another nameserver, and the same search rules."""
    lines = [
        line for line in content.splitlines() if line.split()[:1] in [[name] for name in _SETTINGS]
    ]
    dots = [
        option
        for line in content.splitlines()
        if line.startswith("options")
        for option in _OPTION.findall(line)
    ]
    # An unanswered query fails after 2 seconds, not after 10.
    options = " ".join([f"options timeout:{TIMEOUT} attempts:1", *dots])
    return "\n".join([f"nameserver {NAMESERVER}", *lines, options, ""])


def nsswitch_conf(content: str) -> str:
    """Return nsswitch.conf with ``hosts: files dns``."""
    lines = [line for line in content.splitlines() if not line.lstrip().startswith("hosts:")]
    return "\n".join([*lines, "hosts: files dns", ""])


def hosts(content: str, hostname: str) -> str:
    """Return the hosts file with this machine's own names only.

    The proxy's resolver reads the host's file and gives each other name its own address.
    """
    lines = list(_own_lines(content))
    names = {name for line in lines for name in line.split()[1:]}
    if "localhost" not in names:
        lines.append("127.0.0.1 localhost")
    if hostname and hostname not in names:
        # Services that bind to this machine's name run in the namespace.
        lines.append(f"127.0.0.1 {hostname}")
    return "\n".join([*lines, ""])


def _own_lines(content: str) -> Iterator[str]:
    for line in content.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        local = [name for name in names if _LOCAL.fullmatch(name)]
        if local and (address.startswith("127.") or address == "::1"):
            yield " ".join((address, *local))
