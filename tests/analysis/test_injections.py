from pathlib import Path

from tests.analysis.builders import Story
from warex.analysis.injections import injections, ledger, left_alone
from warex.traces.reader import read_trace


def test_planned_is_not_delivered(tmp_path: Path) -> None:
    story = Story().asks("x1").planned("i1", "x1").delivered("i1", "x1")
    story.asks("x2").planned("i2", "x2").missed("client_gone", "i2")
    story.asks("x3").planned("i3", "x3").missed("not_armed", count=4)
    trace = read_trace(story.write(tmp_path / "events.jsonl"))

    found = injections(trace.entries)

    assert [(i.fate, i.planned_seq, i.fate_seq) for i in found] == [
        ("delivered", 2, 3),
        ("missed", 5, 6),
        ("open", 8, None),
    ]
    summed = ledger(found, left_alone(trace.entries))
    assert (summed.planned, summed.delivered) == (3, 1)
    assert summed.missed == (("client_gone", 1), ("trace_cut", 1))
    assert summed.left_alone == (("not_armed", 4),)
