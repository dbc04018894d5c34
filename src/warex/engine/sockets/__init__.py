"""The sockets of connections in the event loop."""
