"""Faults of MCP servers."""
