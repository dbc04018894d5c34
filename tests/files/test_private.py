import os
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warex.files.private import make_private_dir, private_opener, restrict_to_owner


@pytest.fixture(params=[0o000, 0o022, 0o777], autouse=True)
def umask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    # The folder of the test is made before: an ordinary user could not enter it.
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_and_those_above_it_are_its_owners(tmp_path: Path) -> None:
    make_private_dir(tmp_path / "a" / "b")

    assert [mode(tmp_path / name) for name in ("a", "a/b")] == [0o700, 0o700]


def test_an_existing_folder_is_not_changed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    make_private_dir(tmp_path)

    assert mode(tmp_path) == 0o755


def test_parent_folders_can_be_made_concurrently(tmp_path: Path) -> None:
    """As two trials do whose attempts lie in one new folder."""
    if os.geteuid():
        os.umask(0o022)  # With 0o777 a new folder is closed to its owner for a moment.
    together = threading.Barrier(8, timeout=10)

    def made(name: int) -> None:
        for turn in range(50):
            together.wait()
            make_private_dir(tmp_path / f"{turn}" / "a" / "b" / f"{name}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(made, range(8)))

    assert {mode(path) for path in tmp_path.rglob("*")} == {0o700}


def test_nothing_is_made_where_nothing_can_be() -> None:
    with pytest.raises(FileNotFoundError):
        make_private_dir(Path("/proc/no/such/folder"))


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w", opener=private_opener):
        pass

    with pytest.raises(FileExistsError):
        make_private_dir(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        make_private_dir(tmp_path / "file" / "folder")


def test_a_file_is_its_owners(tmp_path: Path) -> None:
    with open(tmp_path / "file", "wb", opener=private_opener) as file:
        file.write(b"x")

    assert mode(tmp_path / "file") == 0o600


def test_a_device_stays_as_it_is() -> None:
    before = mode(Path("/dev/null"))

    with open(os.devnull, "wb", opener=private_opener):
        pass

    assert mode(Path("/dev/null")) == before


def test_what_others_left_is_made_private_and_links_are_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "run"
    make_private_dir(folder / "sub")
    for path in (outside, folder / "sub" / "log"):
        path.touch()
        path.chmod(0o644)
    (folder / "link").symlink_to(outside)
    (folder / "sub").chmod(0o755)

    restrict_to_owner(folder)

    assert [mode(it) for it in (folder / "sub", folder / "sub/log", outside)] == [
        0o700,
        0o600,
        0o644,
    ]


def test_where_no_folder_can_be_made_there_is_an_error() -> None:
    with pytest.raises(OSError, match="No such file"):
        make_private_dir(Path("/proc/warex/deep"))
