"""Separate programs: the reference agent and the scripted model.

The agent imports no other room, and learns about faults only from pages.
"""
