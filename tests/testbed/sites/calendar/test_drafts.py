from datetime import time

import pytest

from warex.testbed.sites.calendar.drafts import read_date, read_event, read_settings, read_time
from warex.testbed.sites.calendar.model import Settings


@pytest.mark.parametrize(
    ("text", "meant"),
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
def test_times_are_read_as_people_write_them(text: str, meant: time | None) -> None:
    assert read_time(text) == meant


def test_a_date_is_iso_or_nothing() -> None:
    assert read_date("12/06/2026") is None
    assert str(read_date("2026-06-12")) == "2026-06-12"


def test_without_an_end_the_default_duration_holds_within_the_day() -> None:
    fields = {"title": "A", "date": "2026-06-12", "start": "23:30"}
    assert read_event(fields, minutes=15).end == time(23, 45)
    assert read_event(fields, minutes=60).end == time(23, 59)


def test_a_whole_day_has_no_times() -> None:
    event = read_event({"title": "A", "date": "2026-06-12", "start": "9", "all_day": "on"}, 60)
    assert event.start is None
    assert event.end is None


def test_unknown_settings_keep_their_defaults() -> None:
    fields = {"week_start": "friday", "duration": "7", "time_zone": "Mars", "weekends": "on"}
    assert read_settings(fields | {"reminders": "on"}) == Settings()
