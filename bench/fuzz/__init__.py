"""Mutated requests, answers and handshakes through a lane, which has to bear them all."""
