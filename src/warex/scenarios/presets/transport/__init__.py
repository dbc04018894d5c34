"""Answers that come slowly, in part or not to their end."""
