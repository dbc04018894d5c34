"""Runs in the browser: what `warex view` serves, and writes as static files."""
