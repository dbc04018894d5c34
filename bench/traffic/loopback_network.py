"""A network namespace with only loopback, for clients that might request any host."""

import os
from contextlib import suppress
from pathlib import Path

from warex.linux.rtnetlink import bring_up


def enter_loopback_network() -> None:
    """Move this process and its future children into a network namespace with only loopback.

    Call it before threads start. Raises OSError if this user has no permission.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        os.unshare(os.CLONE_NEWNET)
    except PermissionError:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
        with suppress(FileNotFoundError):
            Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    bring_up("lo")
