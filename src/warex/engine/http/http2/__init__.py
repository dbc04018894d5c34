"""HTTP/2 (RFC 9113) over a library; ``library`` alone knows which."""
