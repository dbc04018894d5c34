"""Faults of connections: before there is a request, or in place of an answer."""
