from pathlib import Path

import pytest

from tests.analysis.builders import SHOP, RunFolder, Story, solved
from warex.errors import TraceError
from warex.view.trial_document import RAW_CHUNK, raw_lines, trial_document


def test_the_lanes_of_a_trial_hold_steps_exchanges_and_faults_with_their_verdict(
    tmp_path: Path,
) -> None:
    story = Story().thinks(1, "goto").page("x0").fault(1).thinks(2, "reload").page("x2").stops()
    path = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    document = trial_document(path)

    assert [step["actions"] for step in document["steps"]] == [["goto()"], ["reload()"]]
    assert [(x["url"], x["status"], x["by"]) for x in document["exchanges"]] == [
        (SHOP, 200, "site"),
        (SHOP, 500, "warex"),
        (SHOP, 200, "site"),
    ]
    (fault,) = document["faults"]
    assert (fault["kind"], fault["fate"], fault["verdict"]) == (
        "http_error",
        "delivered",
        "recovered",
    )
    assert fault["call_seq"] == document["steps"][1]["seq"]


def test_a_trace_is_read_in_pieces_and_its_end_is_known(tmp_path: Path) -> None:
    story = Story()
    for number in range(RAW_CHUNK):
        story.page(f"x{number}")
    path = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story.stops())

    lines = trial_document(path)["lines"]
    pieces = [raw_lines(path, chunk) for chunk in range(lines // RAW_CHUNK + 2)]

    assert sum(map(len, pieces)) == lines
    assert len(pieces[0]) == RAW_CHUNK
    assert pieces[-1] == []


def test_a_trace_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"events\.jsonl cannot be read"):
        raw_lines(tmp_path, 0)
