"""A local server that plays personas for known tasks, without a key or a network.

Its numbers test WAREX, not an LLM. Run it with ``python -m warex.agents.scripted_model --help``.
"""
