"""Puts a command behind the proxy: its environment, its browser's trust, the proof that it is."""
