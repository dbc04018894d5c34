from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.errors import TraceError
from warex.traces import BlobStore


@given(st.binary())
def test_a_blob_is_read_back(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    blobs = BlobStore(tmp_path_factory.mktemp("run") / "blobs")

    assert blobs.get(blobs.put(data)) == data


def test_the_same_bytes_are_stored_once(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)

    ref = blobs.put(b"image")
    stored = (tmp_path / ref).stat()
    assert blobs.put(b"image") == ref

    assert (tmp_path / ref).stat() == stored
    assert ref == "sha256/6105d6cc76af400325e94d588ce511be5bfdbb73b437dc51eca43917d7a43e3d"


@pytest.mark.parametrize("ref", ["", "../secret", "sha256/..", "sha256/" + "A" * 64, "md5/1"])
def test_only_a_reference_can_be_got(tmp_path: Path, ref: str) -> None:
    with pytest.raises(TraceError, match="names no blob"):
        BlobStore(tmp_path).get(ref)


def test_a_missing_or_damaged_blob_is_a_sentence(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    ref = blobs.put(b"image")

    (tmp_path / ref).write_bytes(b"imagf")
    with pytest.raises(TraceError, match="damaged"):
        blobs.get(ref)

    (tmp_path / ref).unlink()
    with pytest.raises(TraceError, match="cannot be read"):
        blobs.get(ref)


def test_a_blob_is_removed_once_and_its_absence_is_not_an_error(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    ref = blobs.put(b"image")

    blobs.remove(ref)
    blobs.remove(ref)

    with pytest.raises(TraceError, match="cannot be read"):
        blobs.get(ref)
