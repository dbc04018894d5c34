"""Exports traces as data sets for training (paper §4.2 and §5.3)."""
