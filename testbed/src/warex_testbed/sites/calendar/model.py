"""What a calendar holds, and what may be done to it. No clock: `TODAY` is always the same day."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

TODAY = dt.date(2026, 6, 10)
"""The site's present day, a Wednesday."""

NOW = dt.time(10, 40)
"""The site's present time, drawn as a line in the week and day views."""

type Rsvp = Literal["none", "yes", "no", "maybe"]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of one day; without `start` and `end` it lasts the whole day."""

    id: int
    title: str
    date: dt.date
    start: dt.time | None = None
    end: dt.time | None = None
    calendar: str = ""
    location: str = ""
    notes: str = ""
    guests: tuple[str, ...] = ()
    organizer: str = ""
    rsvp: Rsvp = "none"

    def order(self) -> tuple[dt.date, dt.time, str]:
        """Sort key: by day, whole days first, then by time."""
        return (self.date, self.start or dt.time.min, self.title)

    def as_json(self) -> dict[str, Any]:
        """Return it with ISO dates, HH:MM times and `all_day`."""
        return asdict(self) | {
            "date": self.date.isoformat(),
            "start": self.start and f"{self.start:%H:%M}",
            "end": self.end and f"{self.end:%H:%M}",
            "all_day": self.start is None,
            "guests": list(self.guests),
        }


@dataclass(frozen=True, slots=True)
class Settings:
    """How the owner wants to see the calendar; `duration` is minutes."""

    week_start: Literal["monday", "sunday"] = "monday"
    time_format: Literal["24", "12"] = "24"
    view: Literal["month", "week", "day", "schedule"] = "month"
    duration: int = 60
    time_zone: str = "Europe/Lisbon"
    weekends: bool = True
    reminders: bool = True


@dataclass(slots=True)
class Calendar:
    """All state of one instance of the site."""

    names: tuple[str, ...] = ()
    """Of the calendars that the events are in."""
    events: dict[int, Event] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    hidden: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, names: tuple[str, ...], events: Iterable[Event], settings: Settings) -> "Calendar":
        """Return a calendar with these events."""
        return cls(names, {event.id: event for event in events}, settings)

    def add(self, draft: Event) -> Event:
        """Keep a new event under a number of its own."""
        event = replace(draft, id=max(self.events, default=0) + 1)
        self.events[event.id] = event
        return event

    def change(self, number: int, **fields: Any) -> Event:
        """Change fields of an event; raises KeyError when there is none of that number."""
        self.events[number] = replace(self.events[number], **fields)
        return self.events[number]

    def remove(self, number: int) -> Event:
        """Delete an event; raises KeyError when there is none of that number."""
        return self.events.pop(number)

    def shown(self) -> list[Event]:
        """Return the events of the calendars that are not hidden, in order."""
        events = (event for event in self.events.values() if event.calendar not in self.hidden)
        return sorted(events, key=Event.order)

    def between(self, first: dt.date, last: dt.date) -> list[Event]:
        """Return the shown events of these days, both included."""
        return [event for event in self.shown() if first <= event.date <= last]

    def search(self, words: str, calendar: str = "") -> list[Event]:
        """Return the shown events that hold every word in title, location, notes or guests."""
        wanted = words.lower().split()

        def text(event: Event) -> str:
            return " ".join([event.title, event.location, event.notes, *event.guests]).lower()

        return [
            event
            for event in self.shown()
            if calendar in ("", event.calendar) and all(word in text(event) for word in wanted)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the whole state, for the verifier."""
        return {
            "today": TODAY.isoformat(),
            "events": [event.as_json() for event in sorted(self.events.values(), key=Event.order)],
            "settings": asdict(self.settings),
            "calendars": [
                {"name": name, "visible": name not in self.hidden} for name in self.names
            ],
        }
