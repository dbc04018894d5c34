"""Models that WAREX plays itself: they cost nothing, and test WAREX, not an LLM."""

MOCK_PREFIXES = ("scripted:", "playbook:")
"""How the names of models begin that WAREX plays itself."""


def is_mock_model(model: str) -> bool:
    """Return whether WAREX plays the model that a campaign names."""
    return model.startswith(MOCK_PREFIXES)
