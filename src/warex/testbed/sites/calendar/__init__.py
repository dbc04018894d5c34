"""A calendar: month, week, day and schedule, events with guests, search, settings."""

from warex.testbed.sites.calendar.site import BRANDS, Brand, CalendarSite

__all__ = ["BRANDS", "Brand", "CalendarSite", "make"]


def make(host: str) -> CalendarSite:
    """Return a fresh calendar of the brand that the host stands for."""
    return CalendarSite(BRANDS[host])
