"""Composes lane and engine into a proxy: its process, its CA, and what only a namespace has."""
