"""The only package that imports mitmproxy: turns flows into exchanges and effects into traffic."""
