"""System calls that Python does not wrap: mount(2), umount2(2), prctl(2).

Only fast standard library imports: a namespace loads this module when it starts.
"""

import ctypes
import os
from typing import Final

NOT_FOR_PROGRAMS: Final = 2 | 4 | 8  # nosuid, nodev, noexec
BIND, REC, PRIVATE, READ_ONLY = 4096, 16384, 1 << 18, 1
_DETACH: Final = 2

libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system (mount(2)); raise OSError if the kernel refuses."""
    raw = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    if libc.mount(*raw, ctypes.c_ulong(flags), os.fsencode(data)):
        raise OSError(ctypes.get_errno(), f"mount {target}")


def unmount(target: str) -> None:
    """Detach the uppermost mount, also while it is in use; raise OSError if there is none."""
    if libc.umount2(os.fsencode(target), _DETACH):
        raise OSError(ctypes.get_errno(), f"umount {target}")


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process (prctl(2)); errors are ignored."""
    libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)
