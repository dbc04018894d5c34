"""Failed connection tries, and the requests that prove that a site can be reached again."""

from urllib.parse import SplitResult, urlsplit

from warex.traces.events import FaultPlanned, RequestSeen

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def request_of_try(plan: FaultPlanned) -> RequestSeen | None:
    """Return the page that would have been requested; None if a request was hit.

    Its path is unknown, since the connection try failed before the request was sent.
    """
    if plan.point is None:
        return None
    return RequestSeen(
        exchange=plan.exchange,
        method="GET",
        url=plan.url,
        resource="document",
        top_level=True,
        http_version="",
        connection="",
        size=0,
    )


def proves_reachable(request: RequestSeen, plan: FaultPlanned) -> bool:
    """Whether an answered request proves that the site can be reached again.

    It must go to the host of the failed connection try and, unless its name failed, to its port.
    """
    wanted, requested = split_url(plan.url), split_url(request.url)
    if not wanted.hostname or requested.hostname != wanted.hostname:
        return False
    if plan.point == "name":
        return True
    if plan.point == "tls" and requested.scheme not in ("https", "wss"):
        return False
    return _port(requested) == _port(wanted)


def host_of(plan: FaultPlanned) -> str:
    """Return the host that could not be reached."""
    return split_url(plan.url).hostname or plan.url


def host_in(text: str) -> str | None:
    """Return the host of an absolute HTTP URL; None for any other text."""
    return split_url(text).hostname if text.startswith(("http://", "https://")) else None


def same_host(one: RequestSeen, other: RequestSeen) -> bool:
    """Whether two requests went to the same host."""
    host = host_in(one.url)
    return host is not None and host == host_in(other.url)


def split_url(url: str) -> SplitResult:
    """Split a URL; return an empty result for one that is invalid."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
