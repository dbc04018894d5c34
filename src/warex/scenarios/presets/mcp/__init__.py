"""Servers of tools (MCP) that fail."""
