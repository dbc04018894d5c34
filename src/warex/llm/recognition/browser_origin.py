"""Distinguishes requests of a site's page from those of an agent.

A site under test may call a model itself, for instance a chat page that posts to ``/api/chat``. A
browser sends the page's origin (RFC 6454, the Fetch standard) with each POST, which no script can
change.
"""

from collections.abc import Iterable, Mapping

from warex.llm.recognition.hosts import host_matches, is_known_llm_host


def is_browser_request(headers: Mapping[str, str]) -> bool:
    """Whether a POST was made by a web page.

    The origin of extensions and desktop applications has another scheme (``chrome-extension://``,
    ``file://``). ``headers`` have names in lower case.
    """
    origin = headers.get("origin", "null").lower()
    if origin == "null":
        # A program, unless there is a destination; Node's fetch sends only a mode.
        return "sec-fetch-dest" in headers
    return origin.startswith(("http://", "https://"))


def is_site_request(host: str, headers: Mapping[str, str], llm_hosts: Iterable[str] = ()) -> bool:
    """Whether a POST that looks like an LLM call was made by a site's page, not by the agent.

    An agent that runs in a page calls a known LLM host or one of ``llm_hosts``.
    """
    known = is_known_llm_host(host) or any(host_matches(pattern, host) for pattern in llm_hosts)
    return not known and is_browser_request(headers)
