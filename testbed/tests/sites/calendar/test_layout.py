from datetime import date, time

from warex_testbed.sites.calendar.layout import blocks, share
from warex_testbed.sites.calendar.model import Event


def event(start: int, end: int) -> Event:
    return Event(0, f"{start}", date(2026, 6, 10), time(start), time(end))


def test_overlapping_events_are_side_by_side_and_others_wide() -> None:
    placed = blocks([event(9, 11), event(10, 12), event(11, 13), event(14, 15)])
    assert [block.width for block in placed] == [50, 50, 50, 100]
    assert [block.left for block in placed] == [0, 50, 0, 0]


def test_whole_days_are_not_on_the_time_line() -> None:
    assert blocks([Event(0, "A", date(2026, 6, 10))]) == []


def test_what_is_outside_the_drawn_hours_sticks_to_the_edge() -> None:
    assert share(time(3)) == 0
    assert share(time(23, 59)) == 100
