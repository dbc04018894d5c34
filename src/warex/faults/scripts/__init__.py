"""Faults of the parts of a page."""
