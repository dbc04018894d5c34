"""The files laid over the host's in a command's namespace: who resolves, who is trusted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warex.proxy.ca import CertificateAuthority
from warex.sandbox.environment import Environment


@dataclass(frozen=True, slots=True)
class Laid:
    """What a namespace's inside lays over, and the variables that go with it."""

    ca: CertificateAuthority
    notices: tuple[str, ...] = ()

    def plan(self) -> dict[str, Any]:
        """Return it as the inside takes it."""
        return {
            "mount_point": None,
            "layers": [],
            "files": [("/etc/resolv.conf", b"nameserver 192.0.2.53\n")],
            "hidden": [],
        }

    def environment(self, base: Mapping[str, str]) -> Environment:
        """Return what commands are started with."""
        return Environment(dict(base))

    def clear(self) -> None:
        """Take away what must not stay, if the inside could not."""


def laid_over(ca: CertificateAuthority) -> Laid:
    """Return what is to be laid over on this machine, made now where it is not there yet."""
    return Laid(ca)
