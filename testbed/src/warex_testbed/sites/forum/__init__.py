"""A discussion forum: boards, topics, nested replies, votes, polls, messages, settings."""

from warex_testbed.sites.forum.brands import load
from warex_testbed.sites.forum.site import ForumSite

__all__ = ["ForumSite", "make"]


def make(host: str) -> ForumSite:
    """Return a fresh forum of the brand that the host stands for."""
    return ForumSite(load(host))
