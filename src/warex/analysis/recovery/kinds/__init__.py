"""The kinds of faults with rules of their own: lies, faults of the model, walls, popups."""
