"""Faults of connections."""
