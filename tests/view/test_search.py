import os
from pathlib import Path
from typing import Any

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.clock import Clock
from warex.traces.blobs import BlobStore
from warex.traces.outcome import Counted
from warex.traces.paths import BLOBS
from warex.view.run_document import attempts_of
from warex.view.search import search


def matching(run: Path, text: str, **limits: Any) -> tuple[list[str], str]:
    """Return the tasks of the trials that hold a text, and the note of the search."""
    attempts = attempts_of(run)
    result = search([*attempts.values()], text, **limits)
    return [attempts[name].key.task for name in result["trials"]], result["note"]


def test_traces_outcomes_and_bodies_are_searched(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("clean", "trace", solved(), Story().page("x1", "https://shop.example/Käse"))
    answer = Counted(ending="answered", score=1, latency_s=1, answer='the "Käse"')
    folder.trial("clean", "outcome", answer, Story())
    bodies = folder.trial("clean", "body", failed(), Story())
    blobs = BlobStore(bodies / BLOBS)
    blobs.put(b'{"name": "K\\u00E4se", "say": "\\"hello\\""}')
    blobs.put(b"\x89PNG\r\n\x1a\npicture")
    os.mkfifo(bodies / BLOBS / "sha256" / "fifo")

    assert matching(tmp_path, "KäSE") == (["body", "outcome", "trace"], "")
    assert matching(tmp_path, '"hello"') == (["body"], "")
    assert matching(tmp_path, '"käse"') == (["outcome"], "")
    assert matching(tmp_path, "picture") == ([], "")


def test_a_text_across_two_pieces_is_matching(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest().trial("clean", "body", failed(), Story())
    BlobStore(folder / BLOBS).put(b"a" * ((1 << 20) - 3) + b"needle")

    assert matching(tmp_path, "needle") == (["body"], "")


def test_a_search_ends_at_its_limits_and_says_how_far_it_came(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    for task in ("a", "b"):
        BlobStore(folder.trial("clean", task, failed(), Story()) / BLOBS).put(b"text " * 400_000)

    assert matching(tmp_path, "trial_began", most_bytes=3_000_000) == (
        ["a", "b"],
        "",
    )
    assert matching(tmp_path, "nowhere", most_bytes=3_000_000) == (
        [],
        "The search ended after 3 MB: it looked into all traces and the bodies of 1 of 2 trials.",
    )
    ticks = iter(range(100))
    slow = Clock(monotonic=lambda: next(ticks))
    assert matching(tmp_path, "nowhere", clock=slow, most_seconds=3) == (
        [],
        "The search ended after 0 MB: it looked into the traces of 0 of 2 trials.",
    )
