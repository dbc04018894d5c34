import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

from tests.analysis.builders import RunFolder, Story, failed
from warex.traces.blobs import BlobStore
from warex.traces.paths import BLOBS
from warex.view.run_document import attempts_of
from warex.view.search_index import search_index


def a_run(path: Path, bodies: dict[str, bytes]) -> list[Any]:
    """Write a run whose trials hold a body each; return its attempts."""
    folder = RunFolder(path).manifest()
    for task, body in bodies.items():
        BlobStore(folder.trial("clean", task, failed(), Story()) / BLOBS).put(body)
    return [*attempts_of(path).values()]


def unpacked(parts: list[list[str]]) -> list[bytes]:
    return [zlib.decompress(b64decode(text)) for part in parts for text in part]


def test_a_text_of_several_trials_is_in_the_index_once(tmp_path: Path) -> None:
    attempts = a_run(tmp_path, {"a": b"A Page", "b": b"other", "c": b"A Page"})

    head, parts = search_index(attempts)

    texts = dict(zip(unpacked(parts), head["holders"], strict=True))
    assert texts[b"a page"] == [0, 2]
    assert texts[b"other"] == [1]
    assert head["trials"] == [attempt.id for attempt in attempts]
    assert (head["parts"], head["note"]) == (len(parts), "")


def test_an_index_says_what_did_not_fit(tmp_path: Path) -> None:
    attempts = a_run(tmp_path, {"a": bytes(range(256)), "b": b"b" * 3_000_000})

    head, parts = search_index(attempts, most_text=1_000_000)
    assert bytes(range(256)).lower() in unpacked(parts)
    assert head["note"] == (
        "The search index of this folder is full: it holds all traces and the bodies of 1 of 2"
        " trials. `warex view` searches the rest."
    )

    head, parts = search_index(attempts, largest=0)
    assert (head["parts"], parts) == (0, [])
    assert "it holds the traces of 0 of 2 trials." in head["note"]
