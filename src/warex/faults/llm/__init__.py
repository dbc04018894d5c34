"""Faults of a model's API."""
