"""Faults of servers of tools (MCP)."""
