from datetime import date, time, timedelta

import pytest

from warex_testbed.sites.calendar import dates


@pytest.mark.parametrize(
    ("moment", "shown"),
    [(time(0, 5), "12:05 AM"), (time(12), "12:00 PM"), (time(14, 30), "2:30 PM")],
)
def test_the_twelve_hour_clock_has_no_zero(moment: time, shown: str) -> None:
    assert dates.clock(moment, "12") == shown


def test_a_brand_writes_days_by_its_patterns() -> None:
    words = dates.Wording("{number} {mon}", "{wkd} {number}", "{weekday}, {month}", "{month} /{yr}")
    day = date(2026, 6, 5)
    written = [words.say(each, day) for each in (words.plain, words.short, words.long, words.month)]
    assert written == ["5 Jun", "Fri 5", "Friday, June", "June /26"]


def test_a_week_starts_where_the_settings_say() -> None:
    wednesday = date(2026, 6, 10)
    assert dates.week_days(wednesday, "monday")[0] == date(2026, 6, 8)
    assert dates.week_days(wednesday, "sunday")[0] == date(2026, 6, 7)
    assert dates.month_weeks(wednesday, "sunday")[0][0] == date(2026, 5, 31)


def test_months_are_counted_over_the_turn_of_the_year() -> None:
    assert dates.month_after(date(2026, 12, 31), 1) == date(2027, 1, 1)
    assert dates.month_after(date(2026, 1, 31), -1) == date(2025, 12, 1)


def test_a_time_stays_within_its_day() -> None:
    assert dates.plus(time(23), timedelta(hours=2)) == time(23, 59)
