"""Days and times in words, independent of the machine's language."""

import calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wording:
    """How a brand writes days: patterns of `{weekday}`, `{number}`, `{month}`, `{year}`…"""

    plain: str
    """Without its weekday: `12 June`."""
    short: str
    """`Friday 12 June`."""
    long: str
    """`Friday 12 June 2026`."""
    month: str
    """`June 2026`."""

    def say(self, pattern: str, day: date) -> str:
        """Write a day by one of the patterns."""
        weekday, month = DAYS[day.weekday()], MONTHS[day.month - 1]
        return pattern.format(
            weekday=weekday,
            wkd=weekday[:3],
            number=day.day,
            month=month,
            mon=month[:3],
            year=day.year,
            yr=f"{day.year % 100:02}",
        )


def clock(moment: time, time_format: str) -> str:
    """`14:30`, or `2:30 PM` when the format is `12`."""
    if time_format == "12":
        return f"{moment.hour % 12 or 12}:{moment:%M} {'AM' if moment.hour < 12 else 'PM'}"
    return f"{moment:%H:%M}"


def plus(moment: time, span: timedelta) -> time:
    """Add to a time without passing the last minute of its day."""
    later = datetime.combine(date.min, moment) + span
    return later.time() if later.date() == date.min else time(23, 59)


def first_weekday(week_start: str) -> int:
    """0 for a week that starts on Monday, 6 for Sunday."""
    return 6 if week_start == "sunday" else 0


def month_weeks(day: date, week_start: str) -> Sequence[Sequence[date]]:
    """Return the whole weeks that hold the month of `day`."""
    return calendar.Calendar(first_weekday(week_start)).monthdatescalendar(day.year, day.month)


def week_days(day: date, week_start: str) -> list[date]:
    """Return the seven days of the week that holds `day`."""
    first = day - timedelta((day.weekday() - first_weekday(week_start)) % 7)
    return [first + timedelta(number) for number in range(7)]


def month_after(day: date, count: int) -> date:
    """Return the first day of the month `count` months later (or earlier)."""
    months = day.year * 12 + day.month - 1 + count
    return date(months // 12, months % 12 + 1, 1)
