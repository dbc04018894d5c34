"""Mock models of WAREX: they cost nothing, and test WAREX, not an LLM."""

MOCK_PREFIXES = ("scripted:", "playbook:")
"""The prefixes of mock models' names."""


def is_mock_model(model: str) -> bool:
    """Whether a campaign's model is a mock model."""
    return model.startswith(MOCK_PREFIXES)
