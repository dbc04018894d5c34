from collections import Counter

import pytest

from warex_testbed.sites.calendar.brands import HOSTS, Brand, brand_of
from warex_testbed.sites.calendar.seed import fresh


@pytest.fixture(params=HOSTS)
def brand(request: pytest.FixtureRequest) -> Brand:
    return brand_of(request.param)


def test_no_two_events_would_have_the_same_name_on_a_page(brand: Brand) -> None:
    events = fresh(brand).events.values()
    names = Counter((event.title, event.date, event.start) for event in events)
    assert max(names.values()) == 1


def test_every_event_has_a_known_calendar_and_a_span(brand: Brand) -> None:
    for event in fresh(brand).events.values():
        assert event.calendar in brand.calendars
        assert (event.start is None) == (event.end is None)
        assert event.start is None or event.end is None or event.start < event.end


def test_a_fresh_calendar_is_not_the_last_one(brand: Brand) -> None:
    used = fresh(brand)
    used.remove(1)
    assert 1 in fresh(brand).events


def test_no_brand_has_an_event_of_another() -> None:
    titles = [{event.title for event in fresh(brand_of(host)).events.values()} for host in HOSTS]
    assert not set.intersection(*titles)
    assert sum(map(len, titles)) == len(set.union(*titles))
