"""Sockets, TLS, HTTP/1.1, HTTP/2 and WebSocket between a client and a site; no fault, no trace."""
