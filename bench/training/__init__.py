"""python -m bench training: from failures on the testbed to a model that recovers, end to end."""
