"""A calendar: month, week, day and schedule, events with guests, search, settings."""

from warex_testbed.sites.calendar.brands import brand_of
from warex_testbed.sites.calendar.site import CalendarSite

__all__ = ["CalendarSite", "make"]


def make(host: str) -> CalendarSite:
    """Return a fresh calendar of the brand that the host stands for."""
    return CalendarSite(brand_of(host))
