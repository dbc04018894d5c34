"""Send mutated requests, answers and handshakes through a lane and check that it survives them."""
