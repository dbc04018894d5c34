"""Benchmarks: what WAREX costs (``python -m bench``)."""
