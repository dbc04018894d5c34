"""HTTP without input and output: bytes in, events out."""
