"""Rows as trajectories in the formats that others exchange."""
