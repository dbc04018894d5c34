"""A plain web agent: Playwright, the accessibility tree, any OpenAI-compatible model.

Run it with ``python -m warex.agents.reference --help``.
"""
