"""Walls and states: what a site says in place of its page, and what it forgets."""
