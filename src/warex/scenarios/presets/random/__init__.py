"""Faults together, as often as they are met on the web."""
