"""The embedded benchmark: small real web sites with tasks and checks.

It is run like a stranger's benchmark, as a program of its own (`python -m warex.testbed`); the
tasks and their judge are in `warex.testbed.tasks`.
"""
