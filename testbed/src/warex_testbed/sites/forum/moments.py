"""Moments in words, seen from the site's own present."""

from datetime import datetime, timedelta

from warex_testbed.sites.forum.model import NOW

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def ago(moment: datetime) -> str:
    """`just now`, `25 minutes ago`, `3 hours ago`, `yesterday`, `4 days ago`, `12 May`."""
    span = NOW - moment
    if span < timedelta(minutes=1):
        return "just now"
    if span < timedelta(hours=1):
        return _amount(span // timedelta(minutes=1), "minute")
    if moment.date() == NOW.date():
        return _amount(span // timedelta(hours=1), "hour")
    days = (NOW.date() - moment.date()).days
    if days == 1:
        return "yesterday"
    return _amount(days, "day") if days < 8 else day(moment)


def _amount(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def day(moment: datetime) -> str:
    """`12 May`, with the year when it is another one."""
    year = "" if moment.year == NOW.year else f" {moment.year}"
    return f"{moment.day} {_MONTHS[moment.month - 1]}{year}"


def full(moment: datetime) -> str:
    """`12 May 2026, 18:20`."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M}"
