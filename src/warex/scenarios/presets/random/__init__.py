"""Failures of pages by chance, for training data."""
