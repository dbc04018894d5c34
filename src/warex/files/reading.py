"""Reads files without blocking on a FIFO or a device.

Each OSError's ``strerror`` completes "… cannot be read: ".
"""

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

LARGEST: Final = 1 << 30
"""Most bytes of a file that is read whole."""

_KINDS: Final = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def path_exists(path: Path) -> bool:
    """Whether a path exists, also as a dangling link. Raises other OSErrors."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def open_regular_file(path: Path | str, *, follow: bool = True, buffer: int = 1 << 18) -> BinaryIO:
    """Open a regular file; without ``follow`` a link is refused. Raises OSError, never blocks.

    ``buffer`` is in bytes.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise OSError(error.errno, "it is a link; put the file itself there", path) from None
        if error.errno == errno.ENXIO:
            raise OSError(error.errno, "it is a socket, not an ordinary file", path) from None
        raise
    kind = stat.S_IFMT(os.fstat(handle).st_mode)
    if kind != stat.S_IFREG:
        os.close(handle)
        if kind == stat.S_IFDIR:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        what = _KINDS.get(kind, "something else")
        raise OSError(errno.EINVAL, f"it is {what}, not an ordinary file", path)
    return os.fdopen(handle, "rb", buffer)


def read_regular_file(path: Path | str, *, follow: bool = True, largest: int = LARGEST) -> bytes:
    """Return the contents of a regular file of at most ``largest`` bytes. Raises OSError."""
    data = None
    # What is read at once needs no large buffer, which takes longer than a small file.
    with open_regular_file(path, follow=follow, buffer=io.DEFAULT_BUFFER_SIZE) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= largest:
            # A buffer for the largest file would cost more than to read a small one.
            data = file.read(size + 1)
            if len(data) > size:  # it grows, or its size is unknown, as in /proc
                data += file.read(largest + 1 - len(data))
    if data is None or len(data) > largest:
        raise OSError(errno.EFBIG, f"it has more than {largest:,} bytes", path)
    return data


def read_text_file(path: Path, errors: str = "strict") -> str:
    """Return the text of a regular UTF-8 file. Raises OSError, UnicodeDecodeError."""
    return read_regular_file(path).decode("utf-8", errors)
