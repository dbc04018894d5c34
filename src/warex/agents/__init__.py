"""Separate programs: the reference agent and the scripted model.

The agent imports no other package, and learns about faults only from pages.
"""
