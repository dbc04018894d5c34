"""Models that fail."""
