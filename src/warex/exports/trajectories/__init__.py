"""Rows as trajectories in external exchange formats."""
