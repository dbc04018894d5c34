from tests.report.builders import table
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.endings import Endings
from warex.report.tables.endings import ending_sheet
from warex.report.tables.sheet import Sheet
from warex.traces.outcome import Ending


def _texts(sheet: Sheet) -> list[list[str]]:
    return [[b.agent, *(cell.text for cell in line)] for b in sheet.blocks for line in b.lines]


def test_endings_say_what_another_rule_for_crashes_would_give() -> None:
    calm = Endings("patient", "clean", (("answered", 2),), 0, 0, *[Rate(2, 2)] * 3)
    counts: tuple[tuple[Ending, int], ...] = (("answered", 3), ("harness_crashed", 1))
    crashed = Endings("patient", "down", counts, 1, 0, Rate(3, 4), Rate(3, 3), Rate(3, 4))

    plain = ending_sheet(table(endings=(calm,)))
    sheet = ending_sheet(table(endings=(calm, crashed)))

    assert _texts(plain) == [["patient", "clean", "2/2 100 %", "2"]]
    assert _texts(sheet)[1] == [
        *("patient", "down", "3/4 75 %", "3", "1"),
        *("0", "3/3 100 %", "3/4 75 %"),
    ]


def test_what_had_no_trial_is_empty() -> None:
    assert ending_sheet(table()).empty
