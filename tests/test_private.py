import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from warex.private import make_private, private_folder, private_opener


@pytest.fixture(params=[0o000, 0o022, 0o777], autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_and_those_above_it_are_its_owners(tmp_path: Path) -> None:
    private_folder(tmp_path / "a" / "b")

    assert [mode(tmp_path / name) for name in ("a", "a/b")] == [0o700, 0o700]


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    private_folder(tmp_path)

    assert mode(tmp_path) == 0o755


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w", opener=private_opener):
        pass

    with pytest.raises(FileExistsError):
        private_folder(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        private_folder(tmp_path / "file" / "folder")


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
    private_folder(folder / "sub")
    for path in (outside, folder / "sub" / "log"):
        path.touch()
        path.chmod(0o644)
    (folder / "link").symlink_to(outside)
    (folder / "sub").chmod(0o755)

    make_private(folder)

    assert [mode(it) for it in (folder / "sub", folder / "sub/log", outside)] == [
        0o700,
        0o600,
        0o644,
    ]


def test_where_no_folder_can_be_made_there_is_an_error() -> None:
    with pytest.raises(OSError, match="No such file"):
        private_folder(Path("/proc/warex/deep"))
