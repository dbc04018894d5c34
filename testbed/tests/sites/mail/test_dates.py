import datetime as dt

import pytest

from warex_testbed.sites.mail import dates


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def test_a_row_shows_the_time_of_today_and_the_day_of_any_other() -> None:
    assert dates.brief(moment("2026-06-10T09:05")) == "09:05"
    assert dates.brief(moment("2026-06-09T09:05")) == "9 June"


def test_a_message_shows_day_year_and_time() -> None:
    assert dates.full(moment("2026-06-09T14:02")) == "Tuesday 9 June 2026, 14:02"


@pytest.mark.parametrize(
    ("day", "heading"),
    [
        ("2026-06-10T00:00", "Today"),
        ("2026-06-09T23:59", "Yesterday"),
        ("2026-06-08T00:00", "Earlier this week"),
        ("2026-06-07T23:59", "Last week"),
        ("2026-06-01T00:00", "Last week"),
        ("2026-05-31T23:59", "Older"),
    ],
)
def test_days_are_grouped_as_seen_from_the_present(day: str, heading: str) -> None:
    assert dates.age(moment(day)) == heading


def test_only_an_iso_date_is_a_day() -> None:
    assert dates.read_day(" 2026-07-03 ") == dt.date(2026, 7, 3)
    assert dates.read_day("3 July") is None
