from pathlib import Path

import pytest

from warex.errors import MachineError
from warex.traces.files import write_atomic

from .test_writer import at_most


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomic(path, b"old")

    with at_most(10), pytest.raises(MachineError, match="may not grow further"):
        write_atomic(path, b"x" * 100)

    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]

    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(MachineError, match="a file is in its place: choose another"):
        write_atomic(tmp_path / "file" / "below", b"x")
