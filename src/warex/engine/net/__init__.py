"""Connections to sites: direct, through other proxies, and passed on unread."""
