"""Programs run by a benchmark's own Python, by their path: WAREX itself imports none of them.

Each does one task with the harness's own classes and leaves the result where it is told.
"""
