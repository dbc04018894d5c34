"""Faults of the transport: how fast an answer comes, and how much of it."""
