"""The events a fresh calendar starts with, read once from `seed.toml`."""

import functools
import tomllib
from pathlib import Path

from warex.testbed.sites.calendar.drafts import read_date, read_time
from warex.testbed.sites.calendar.model import Calendar, Event


@functools.cache
def _events() -> tuple[Event, ...]:
    rows = tomllib.loads(Path(__file__).with_name("seed.toml").read_text("utf-8"))["event"]
    return tuple(
        Event(
            **row
            | {
                "id": number,
                "date": read_date(row["date"]),
                "start": read_time(row.get("start", "")),
                "end": read_time(row.get("end", "")),
                "guests": tuple(row.get("guests", ())),
            }
        )
        for number, row in enumerate(rows, start=1)
    )


def fresh() -> Calendar:
    """Return a new calendar, equal each time."""
    return Calendar.of(_events())
