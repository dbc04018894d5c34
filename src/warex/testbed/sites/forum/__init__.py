"""A discussion forum: boards, topics, nested replies, votes, polls, messages, settings."""

from warex.testbed.sites.forum.brands import load
from warex.testbed.sites.forum.site import ForumSite

__all__ = ["ForumSite", "make"]


def make(host: str) -> ForumSite:
    """Return a fresh forum of the brand that the host stands for."""
    return ForumSite(load(host))
