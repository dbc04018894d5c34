"""Failures of what a single-page site asks for after its one document."""
