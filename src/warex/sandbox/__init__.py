"""Runs commands behind the proxy: isolation, environment, certificate trust, checks."""
