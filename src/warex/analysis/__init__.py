"""Reads traces into figures: each trial, its recovery, the table of a run."""
