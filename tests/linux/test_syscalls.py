import os
from pathlib import Path

import pytest

from warex.linux.syscalls import BIND, mount, prctl, unmount


def test_a_mount_that_is_refused_raises_with_the_place(tmp_path: Path) -> None:
    place = str(tmp_path / "missing")

    with pytest.raises(OSError, match=r"mount .*missing"):
        mount(place, place, None, BIND)
    with pytest.raises(OSError, match=r"umount .*missing"):
        unmount(place)


def test_an_attribute_of_the_process_is_set() -> None:
    before = Path("/proc/self/comm").read_text()
    import ctypes

    name = ctypes.create_string_buffer(b"renamed")
    prctl(15, ctypes.addressof(name))  # PR_SET_NAME
    try:
        assert Path(f"/proc/self/task/{os.getpid()}/comm").read_text() == "renamed\n"
    finally:
        Path("/proc/self/comm").write_text(before.strip())
