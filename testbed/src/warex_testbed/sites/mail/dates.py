"""Moments in words, independent of the machine's language and clock."""

import datetime as dt

NOW = dt.datetime(2026, 6, 10, 10, 40)  # noqa: DTZ001 - the site's own time, of no zone
"""The site's present moment, a Wednesday."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def day(moment: dt.datetime) -> str:
    """`9 June`."""
    return f"{moment.day} {MONTHS[moment.month - 1]}"


def brief(moment: dt.datetime) -> str:
    """`09:12` for today, `9 June` for any other day: what a row of a list shows."""
    return f"{moment:%H:%M}" if moment.date() == NOW.date() else day(moment)


def full(moment: dt.datetime) -> str:
    """`Tuesday 9 June 2026, 14:02`."""
    return f"{DAYS[moment.weekday()]} {day(moment)} {moment.year}, {moment:%H:%M}"


def age(moment: dt.datetime) -> str:
    """Return the heading that a list puts over a message of that day."""
    days = (NOW.date() - moment.date()).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    if days <= NOW.weekday():
        return "Earlier this week"
    if days <= NOW.weekday() + 7:
        return "Last week"
    return "Older"


def read_day(text: str) -> dt.date | None:
    """Read an ISO date; None for other text."""
    try:
        return dt.date.fromisoformat(text.strip())
    except ValueError:
        return None
