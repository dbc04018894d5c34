from datetime import date, time

import pytest

from warex_testbed.sites.calendar.brands import brand_of
from warex_testbed.sites.calendar.drafts import (
    Problems,
    read_date,
    read_email,
    read_event,
    read_settings,
    read_time,
)
from warex_testbed.sites.calendar.model import Settings

DAYBOOK, CLOVER = brand_of("calendar.warex.test"), brand_of("planner.warex.test")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14:30", time(14, 30)),
        (" 9:05 ", time(9, 5)),
        ("2:30 PM", time(14, 30)),
        ("12 am", time(0, 0)),
        ("12:15pm", time(12, 15)),
        ("9", None),
        ("24:00", None),
        ("13:00 pm", None),
        ("9:60", None),
        ("half past", None),
    ],
)
def test_times_are_read_as_people_write_them(text: str, expected: time | None) -> None:
    assert read_time(text) == expected


def test_a_date_is_iso_or_nothing() -> None:
    assert read_date("12/06/2026") is None
    assert str(read_date("2026-06-12")) == "2026-06-12"


def test_a_brand_that_types_its_dates_otherwise_says_how() -> None:
    fields = {"title": "A", "date": "12.06.2026", "start": "09:00"}
    assert read_event(fields, 30, CLOVER).date == date(2026, 6, 12)
    with pytest.raises(Problems, match=r"DD\.MM\.YYYY"):
        read_event(fields | {"date": "2026-06-12"}, 30, CLOVER)


def test_a_new_event_belongs_to_the_owner_and_first_calendar() -> None:
    event = read_event({"title": "A", "date": "12.06.2026", "all_day": "on"}, 30, CLOVER)
    assert (event.organizer, event.calendar) == ("hanne@warex.test", "Surgery")


def test_without_an_end_the_default_duration_holds_within_the_day() -> None:
    fields = {"title": "A", "date": "2026-06-12", "start": "23:30"}
    assert read_event(fields, 15, DAYBOOK).end == time(23, 45)
    assert read_event(fields, 60, DAYBOOK).end == time(23, 59)


def test_a_whole_day_has_no_times() -> None:
    event = read_event(
        {"title": "A", "date": "2026-06-12", "start": "9", "all_day": "on"}, 60, DAYBOOK
    )
    assert event.start is None
    assert event.end is None


def test_unknown_settings_keep_their_defaults() -> None:
    fields = {"week_start": "friday", "duration": "7", "time_zone": "Mars", "weekends": "on"}
    assert read_settings(fields | {"reminders": "on"}, Settings()) == Settings()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a@b.c", True), ("a@b..c", True), ("a@.b", False), ("a@b.", False), ("a@b@c.d", False)],
)
def test_an_address_has_a_dot_within_its_host(text: str, expected: bool) -> None:
    assert (read_email(text) is not None) is expected


@pytest.mark.timeout(10)
def test_a_long_address_takes_no_time() -> None:
    assert read_email(f"a@{'.' * 100_000}@") is None
