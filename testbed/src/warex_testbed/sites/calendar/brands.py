"""The brands of a calendar: who owns it, how it looks, what it says and what stands in it.

A folder of `brands/` for each: `brand.toml` and `seed.toml`, and where it is laid out in its own
way `templates/` and `static/`, which go before those that all brands share.
"""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warex_testbed.sites.calendar.dates import Wording
from warex_testbed.sites.calendar.model import Settings

_FOLDER = Path(__file__).with_name("brands")

HOSTS: Mapping[str, str] = {
    "calendar.warex.test": "daybook",
    "agenda.warex.test": "tempo",
    "planner.warex.test": "clover",
}
"""The brand of each host, by its folder's name."""


@dataclass(frozen=True, slots=True)
class Brand:
    """One brand, as its files tell it."""

    folder: Path
    name: str
    owner: str
    """Whose calendar it is: an e-mail address."""
    accent: str
    calendars: Mapping[str, str]
    """The calendars there are, each with its colour; a new event goes into the first."""
    typed: str
    """How a date is typed, for `strptime`."""
    typed_as: str
    """The same for people, `DD.MM.YYYY`."""
    days: Wording
    words: Mapping[str, Any]
    settings: Settings


@functools.cache
def brand_of(host: str) -> Brand:
    """Return the brand of a host; raises KeyError for a host that is not a calendar's."""
    folder = _FOLDER / HOSTS[host]
    data = tomllib.loads((folder / "brand.toml").read_text("utf-8"))
    data["days"] = Wording(**data["days"])
    data["settings"] = Settings(**data["settings"])
    return Brand(folder=folder, **data)
