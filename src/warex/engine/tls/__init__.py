"""Certificates, TLS contexts, and what a ClientHello says."""
