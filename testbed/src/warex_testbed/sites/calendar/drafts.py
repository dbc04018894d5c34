"""Reads what a person typed into an event form or the settings, kindly but not guessing."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any, cast, get_args, get_type_hints

from warex_testbed.sites.calendar.brands import Brand
from warex_testbed.sites.calendar.dates import plus
from warex_testbed.sites.calendar.model import TODAY, Event, Settings

_TIME = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)?", re.IGNORECASE)
_EMAIL = re.compile(r"[^@\s,]++@(?=[^@]+\.[^@])[^@\s,]++")
_LONGEST = {"title": 120, "location": 200, "notes": 4000}


class Problems(Exception):
    """What is wrong with a form: a sentence for each field."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        super().__init__(" ".join(sentences.values()))
        self.sentences = sentences


def read_time(text: str) -> time | None:
    """Read `14:30`, `9:30`, `2:30 PM` or `2 pm`; None when it is not time."""
    match = _TIME.fullmatch(text.strip())
    if match is None or (match[2] is None and match[3] is None):
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), (match[3] or "")[:1].lower()
    if minute > 59 or hour > 23 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, minute)


def read_date(text: str, typed: str = "%Y-%m-%d") -> date | None:
    """Read a typed date; None for other texts and for years out of range."""
    try:
        day = datetime.strptime(text.strip(), typed).date()  # noqa: DTZ007 - of no zone
    except ValueError:
        return None
    return day if 1970 <= day.year <= 2999 else None


def read_email(text: str) -> str | None:
    """Read one e-mail address; None for other text."""
    text = text.strip().lower()
    return text if _EMAIL.fullmatch(text) else None


def read_event(fields: Mapping[str, Any], minutes: int, brand: Brand) -> Event:
    """Read an event (with id 0) out of the fields of a form.

    Without an end it lasts `minutes`. Raises Problems, in the brand's words.
    """
    texts = {key: str(value).strip() for key, value in fields.items()}
    problems: dict[str, str] = {}
    say: Mapping[str, str] = brand.words["problems"]
    day = read_date(texts.get("date", ""), brand.typed)
    if day is None:
        example = (TODAY + timedelta(2)).strftime(brand.typed)
        problems["date"] = say["date"].format(hint=brand.typed_as, example=example)
    if not texts.get("title"):
        problems["title"] = say["title"]
    for key, longest in _LONGEST.items():
        if len(texts.get(key, "")) > longest:
            problems[key] = f"At most {longest} characters fit here."
    calendar = texts.get("calendar", next(iter(brand.calendars)))
    if calendar not in brand.calendars:
        problems["calendar"] = say["calendar"].format(names=", ".join(brand.calendars))
    guests = tuple(dict.fromkeys(filter(None, re.split(r"[,;\s]+", texts.get("guests", "")))))
    if not all(read_email(guest) for guest in guests):
        problems["guests"] = say["guests"]
    start, end = None, None
    if not texts.get("all_day"):
        start, end = _span(texts, minutes, problems, say)
    if problems:
        raise Problems(problems)
    return Event(
        id=0,
        title=texts["title"],
        date=cast(date, day),
        start=start,
        end=end,
        calendar=calendar,
        location=texts.get("location", ""),
        notes=texts.get("notes", ""),
        guests=tuple(guest.lower() for guest in guests),
        organizer=brand.owner,
    )


def _span(
    texts: Mapping[str, str], minutes: int, problems: dict[str, str], say: Mapping[str, str]
) -> tuple[time | None, time | None]:
    start, end = read_time(texts.get("start", "")), read_time(texts.get("end", ""))
    if start is None:
        problems["start"] = say["start"]
    elif not texts.get("end"):
        end = plus(start, timedelta(minutes=minutes))
    if texts.get("end") and end is None:
        problems["end"] = say["end"]
    if start and end and end <= start:
        problems["end"] = say["order"]
    return start, end


def read_settings(fields: Mapping[str, str], default: Settings) -> Settings:
    """Read the settings form; a field that is missing or unknown keeps its default."""
    hints = get_type_hints(Settings)
    chosen: dict[str, Any] = {
        name: fields[name]
        for name in ("week_start", "time_format", "view")
        if fields.get(name) in get_args(hints[name])
    }
    if fields.get("duration") in {"15", "30", "60", "90"}:
        chosen["duration"] = int(fields["duration"])
    if fields.get("time_zone") in TIME_ZONES:
        chosen["time_zone"] = fields["time_zone"]
    return replace(
        default, **chosen, weekends="weekends" in fields, reminders="reminders" in fields
    )


TIME_ZONES = ("America/New_York", "Asia/Tokyo", "Europe/Lisbon", "Europe/London", "UTC")
"""What the settings offer."""
