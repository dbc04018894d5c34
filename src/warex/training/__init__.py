"""Trains a model to recover from a data set, and tests it (paper §5.3, appendix G)."""
