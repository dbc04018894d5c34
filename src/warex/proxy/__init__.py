"""The only room that knows mitmproxy: turns flows into exchanges and effects into traffic."""
