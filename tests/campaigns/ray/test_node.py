import tarfile
from pathlib import Path

import pytest

from warex.campaigns.ray.node import pack_folder, unpack_folder
from warex.traces import TrialKey, attempt_dir, find_trials

KEY = TrialKey("testbed", "patient", "clean", "buy-tea", 1)


def test_an_attempts_folder_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "there"
    (path / "blobs").mkdir(parents=True)
    (path / "events.jsonl").write_bytes(b"{}\n")
    (path / "blobs" / "ab").write_bytes(b"\x00\xff")
    here = attempt_dir(tmp_path / "run", KEY, 2)

    unpack_folder(pack_folder(path), here)

    assert (here / "events.jsonl").read_bytes() == b"{}\n"
    assert (here / "blobs" / "ab").read_bytes() == b"\x00\xff"
    assert [(key, number) for key, number, _ in find_trials(tmp_path / "run")] == [(KEY, 2)]


def test_a_partial_folder_is_not_an_attempt(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.mkdir()
    (path / "events.jsonl").write_bytes(b"x" * 5000)
    here = attempt_dir(tmp_path / "run", KEY, 1)

    with pytest.raises(tarfile.ReadError):
        unpack_folder(pack_folder(path)[:3000], here)

    assert not here.exists()
    assert list(find_trials(tmp_path / "run")) == []


def test_an_earlier_partial_folder_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.mkdir()
    (path / "outcome.json").write_bytes(b"{}")
    here = attempt_dir(tmp_path / "run", KEY, 1)
    draft = here.with_name(f".{here.name}")
    draft.mkdir(parents=True)
    (draft / "leftover").write_bytes(b"old")

    unpack_folder(pack_folder(path), here)

    assert [path.name for path in here.iterdir()] == ["outcome.json"]
