"""Faults of a site's server."""
