"""Error messages for a namespace that could not be made: cause and remedy."""

import errno
import os
from pathlib import Path
from typing import Final

_FALLBACK: Final = "; or use environment mode (--isolate environment)"
_SWITCHES: Final = (
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor keeps ordinary users from namespaces (Ubuntu 23.10 and later)",
    ),
    (
        "kernel/unprivileged_userns_clone",
        "0",
        "this kernel keeps ordinary users from namespaces (Debian's and Arch's switch)",
    ),
)
_SYSTEM: Final = "proc/sys"
_CONTAINERS: Final = (".dockerenv", "run/.containerenv")


def diagnose(step: str, number: int, *, root: Path = Path("/")) -> str:
    """Return the message for a setup step that failed with this errno."""
    why = os.strerror(number) if number else "no reason given"
    return f"a namespace cannot be made here: {_cause(step, number, why, root)}{_FALLBACK}"


def _cause(step: str, number: int, why: str, root: Path) -> str:
    switched_off = _switched_off(root / _SYSTEM, number)
    if step not in ("rules", "sockets", "proc") and switched_off is not None:
        return switched_off
    if step in ("user namespace", "namespaces"):
        if number == errno.ENOSPC:
            return (
                "there are as many namespaces as user.max_user_namespaces and its kin allow; have"
                " an administrator raise them with `sysctl -w user.max_user_namespaces=15000`"
            )
        if number == errno.EINVAL:
            return "this kernel was built without user, network or pid namespaces; use another"
        if number == errno.EUSERS:
            return "namespaces are nested more than 32 deep; run WAREX outside of them"
        return f"{why} ({step}). {_container(root)}"
    if step == "user map":
        return f"the user could not be mapped into it: {why}. {_container(root)}"
    if step == "proc":
        return (
            f"/proc could not be mounted in it: {why}. Containers hide parts of it: start them"
            " with `--security-opt systempaths=unconfined`"
        )
    if step == "device":
        return (
            f"no network device could be made: {why}. Have an administrator load one with"
            " `modprobe veth` (or dummy, or bridge)"
        )
    if step == "rules":
        return (
            f"the kernel refused the rules of nftables: {why}. It needs Linux 5.2 or newer with"
            " nf_tables, nft_nat, nft_redir, nft_reject and nfnetlink_log: have an administrator"
            " load them with `modprobe -a nf_tables nft_chain_nat nft_redir nft_reject_inet nft_log"
            " nfnetlink_log`"
        )
    if step == "mounts":
        if number == errno.EINVAL:
            return (
                "its mounts could not be made private, as in a chroot whose folder is not a mount"
                " point; have an administrator run `mount --bind DIR DIR` before `chroot DIR`"
            )
        return f"files could not be mounted in it: {why}. {_container(root)}"
    return f"{step}: {why}"


def _switched_off(system: Path, number: int) -> str | None:
    if _setting(system, "user/max_user_namespaces") == "0":
        return (
            "user.max_user_namespaces is 0; have an administrator run"
            " `sysctl -w user.max_user_namespaces=15000`"
        )
    for name, off, cause in _SWITCHES:
        if number in (errno.EPERM, errno.EACCES) and _setting(system, name) == off:
            on = "0" if off == "1" else "1"
            return (
                f"{cause}; have an administrator run `sysctl -w {name.replace('/', '.')}={on}`"
                " (and write it to /etc/sysctl.d/ to keep it)"
            )
    return None


def _setting(system: Path, name: str) -> str | None:
    try:
        return (system / name).read_text().strip()
    except OSError:
        return None


def _container(root: Path) -> str:
    if any((root / mark).exists() for mark in _CONTAINERS):
        return (
            "This is a container, whose system-call filter forbids it: start it with"
            " `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or with"
            " `--cap-add SYS_ADMIN --cap-add NET_ADMIN`"
        )
    return (
        "A filter of system calls or a security module forbids it, as containers and sandboxes"
        " have: run WAREX outside, or allow unshare and mount to it"
    )
