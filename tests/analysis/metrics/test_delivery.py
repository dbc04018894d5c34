from tests.analysis.builders import RunFolder, Story, solved
from tests.analysis.metrics.conditions import figures
from warex.analysis.metrics.metric import Counts
from warex.analysis.stats.estimates import Rate


def test_missed_and_skipped_are_counted_by_reason_over_all_trials(folder: RunFolder) -> None:
    late = Story().asks("x1").planned("i1", "x1").missed("client_gone", "i1")
    early = Story().missed("not_armed", count=2).asks("x1").planned("i1", "x1")
    folder.trial("down", "add", solved(), late.missed("not_armed", count=3))
    folder.trial("down", "move", solved(), early.delivered("i1", "x1"))

    row = figures(folder, "down")

    assert (row.exposure, row.planned, row.delivered, row.missed) == (Rate(1, 2), 2, 1, 1)
    assert row.missed_reasons == Counts((("client_gone", 1),))
    assert row.skipped == Counts((("not_armed", 5),))
