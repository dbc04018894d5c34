"""python -m bench training: train a model to recover, on examples from the testbed, and test it."""
