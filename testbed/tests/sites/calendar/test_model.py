from datetime import date

import pytest

from warex_testbed.sites.calendar.brands import brand_of
from warex_testbed.sites.calendar.model import TODAY, Calendar, Event
from warex_testbed.sites.calendar.seed import fresh

DAYBOOK = brand_of("calendar.warex.test")


def test_today_is_a_wednesday() -> None:
    assert TODAY.weekday() == 2


def test_a_new_event_gets_a_number_of_its_own() -> None:
    calendar = fresh(DAYBOOK)
    numbers = set(calendar.events)
    assert calendar.add(Event(0, "A", date(2026, 6, 12))).id not in numbers


def test_an_event_that_does_not_exist_cannot_be_changed() -> None:
    with pytest.raises(KeyError):
        Calendar().change(1, title="A")


def test_a_search_wants_every_word_somewhere() -> None:
    titles = {event.title for event in fresh(DAYBOOK).search("LISBON flight")}
    assert titles == {"Flight to Lisbon"}
    assert fresh(DAYBOOK).search("lisbon", calendar="Family") == []
