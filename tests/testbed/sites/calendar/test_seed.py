from collections import Counter

from warex.testbed.sites.calendar.model import COLOURS
from warex.testbed.sites.calendar.seed import fresh


def test_no_two_events_would_have_the_same_name_on_a_page() -> None:
    names = Counter((event.title, event.date, event.start) for event in fresh().events.values())
    assert max(names.values()) == 1


def test_every_event_has_a_known_calendar_and_a_span() -> None:
    for event in fresh().events.values():
        assert event.calendar in COLOURS
        assert (event.start is None) == (event.end is None)
        assert event.start is None or event.end is None or event.start < event.end


def test_a_fresh_calendar_is_not_the_last_one() -> None:
    used = fresh()
    used.remove(1)
    assert 1 in fresh().events
