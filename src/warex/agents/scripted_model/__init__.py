"""A model without a mind: a local server that plays personas over known tasks.

It speaks OpenAI's chat completions, so that every layer works with no key and no network. Its
numbers test WAREX, not an LLM. Run it with
``python -m warex.agents.scripted_model --help``.
"""
