"""Faults of channels that stay open: WebSockets, server-sent events, lines of JSON."""
