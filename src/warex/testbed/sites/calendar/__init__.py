"""A calendar: month, week, day and schedule, events with guests, search, settings."""

from warex.testbed.sites.calendar.site import DAYBOOK, Brand, CalendarSite

__all__ = ["DAYBOOK", "Brand", "CalendarSite"]
