"""The events that a fresh calendar of a brand starts with, read once from its `seed.toml`."""

import functools
import tomllib
from pathlib import Path

from warex_testbed.sites.calendar.brands import Brand
from warex_testbed.sites.calendar.drafts import read_date, read_time
from warex_testbed.sites.calendar.model import Calendar, Event


@functools.cache
def _events(file: Path, owner: str) -> tuple[Event, ...]:
    rows = tomllib.loads(file.read_text("utf-8"))["event"]
    return tuple(
        Event(
            **{"organizer": owner}
            | row
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


def fresh(brand: Brand) -> Calendar:
    """Return a new calendar of the brand, equal each time."""
    events = _events(brand.folder / "seed.toml", brand.owner)
    return Calendar.of(tuple(brand.calendars), events, brand.settings)
