"""Requests that a site's page makes in a browser, told from those of an agent.

A site under test may have a model of its own: a chat page whose script posts to ``/api/chat`` looks
like an agent that asks its model. What tells them apart is the origin (RFC 6454, the Fetch
standard), which a browser sends with each POST, and no script can change.
"""

from collections.abc import Iterable, Mapping

from warex.llm.recognition.hosts import host_matches, is_known_llm_host


def is_browser_request(headers: Mapping[str, str]) -> bool:
    """Tell whether a POST was made by a page of the web.

    An extension's and a desktop application's are not: their origin has a scheme of its own
    (``chrome-extension://``, ``file://``). ``headers`` have names in lower case.
    """
    origin = headers.get("origin", "null").lower()
    if origin == "null":
        # A program's, unless a browser says what it is for; Node's fetch says only how.
        return "sec-fetch-dest" in headers
    return origin.startswith(("http://", "https://"))


def is_site_request(host: str, headers: Mapping[str, str], llm_hosts: Iterable[str] = ()) -> bool:
    """Tell whether a POST that looks like a call to a model is a site's own, and not the agent's.

    That is what a page sends to any host but a model's, well-known or one of ``llm_hosts``: agents
    that run in a page ask one of these.
    """
    known = is_known_llm_host(host) or any(host_matches(pattern, host) for pattern in llm_hosts)
    return not known and is_browser_request(headers)
