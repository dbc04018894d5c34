"""Files of others: no other kind of file blocks a reader."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from warex.files.reading import open_regular_file, read_regular_file, read_text_file


def _socket(path: Path) -> None:
    os.mknod(path, stat.S_IFSOCK | 0o600)


PLACES: dict[str, Callable[[Path], object]] = {
    "FIFO": os.mkfifo,
    "socket": _socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "Is a directory": Path.mkdir,
    "levels of symbolic links": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("what", PLACES)
def test_special_files_are_reported_without_blocking(tmp_path: Path, what: str) -> None:
    PLACES[what](tmp_path / "f")

    with pytest.raises(OSError, match=what) as refused:
        read_regular_file(tmp_path / "f")
    assert refused.value.strerror


def test_a_link_is_followed_only_where_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("ü")
    (tmp_path / "link").symlink_to("there")

    assert read_text_file(tmp_path / "link") == "ü"
    with pytest.raises(OSError, match="it is a link; put the file itself there"):
        open_regular_file(tmp_path / "link", follow=False)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    os.truncate(os.open(tmp_path / "f", os.O_CREAT | os.O_RDWR), 1 << 40)

    with pytest.raises(OSError, match="it has more than 1,073,741,824 bytes"):
        read_regular_file(tmp_path / "f")
