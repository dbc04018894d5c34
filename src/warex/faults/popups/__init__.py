"""Dialogs over a page."""
