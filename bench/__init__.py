"""Benchmarks: what WAREX costs, in one run beside its peers (``python -m bench``)."""
