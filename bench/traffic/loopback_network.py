"""A network with nothing but loopback, for what might ask for any host."""

import os
from contextlib import suppress
from pathlib import Path

from warex.linux.rtnetlink import bring_up


def leave_the_network() -> None:
    """Move this process and what it starts into a network of its own; loopback is there.

    Before it has threads. Raises OSError where this user may not.
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
