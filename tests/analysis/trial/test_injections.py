from pathlib import Path

from tests.analysis.builders import Story
from warex.analysis.trial.injections import injections, missed, occurrences, skipped
from warex.traces.reader import read_trace


def test_planned_is_not_delivered(tmp_path: Path) -> None:
    story = Story().asks("x1").planned("i1", "x1").delivered("i1", "x1")
    story.asks("x2").planned("i2", "x2").missed("client_gone", "i2")
    story.asks("x3").planned("i3", "x3").missed("not_armed", count=4)
    trace = read_trace(story.write(tmp_path / "events.jsonl"))

    records = injections(trace.entries)

    assert [(i.fate, i.planned_seq, i.fate_seq) for i in records] == [
        ("delivered", 2, 3),
        ("missed", 5, 6),
        ("open", 8, None),
    ]
    assert missed(records) == (("client_gone", 1), ("trace_cut", 1))
    assert skipped(trace.entries) == (("not_armed", 4),)


def test_what_a_client_tries_again_silently_is_one_occurrence(tmp_path: Path) -> None:
    story = Story()
    for number, fate in ((1, "missed"), (2, "delivered"), (3, "missed")):
        again = {"repeat_of": "i1"} if number > 1 else {}
        story.planned(f"i{number}", f"a{number}", point="connect", **again)
        if fate == "delivered":
            story.delivered(f"i{number}", f"a{number}")
        else:
            story.missed("client_gone", f"i{number}")
    story.planned("i4", "a4", point="connect").missed("client_gone", "i4")
    records = injections(read_trace(story.write(tmp_path / "events.jsonl")).entries)

    assert len(records) == 4
    distinct = occurrences(records)
    assert [injection.fate for injection in distinct] == ["delivered", "missed"]
    assert missed(distinct) == (("client_gone", 1),)
