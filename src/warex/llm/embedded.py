"""Models that WAREX plays itself: they cost nothing, and test WAREX, not an LLM."""

EMBEDDED = ("scripted:", "playbook:")
"""How the names of models begin that WAREX plays itself."""


def is_embedded(model: str) -> bool:
    """Return whether WAREX plays the model that a campaign names."""
    return model.startswith(EMBEDDED)
