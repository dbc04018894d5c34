"""Attempts to reach a site, as recovery sees them: what failed, what shows that it works."""

from urllib.parse import SplitResult, urlsplit

from warex.traces.events import FaultPlanned, RequestSeen

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def attempted_request(plan: FaultPlanned) -> RequestSeen | None:
    """Return the page that would have been asked for; None where a request was hit.

    Nobody knows its path: the attempt failed before it was told.
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
    """Whether a request went where the attempt had failed: to that host, and but for a name port.

    Its answer then shows that the site can be reached again.
    """
    wanted, found = _split(plan.url), _split(request.url)
    if not wanted.hostname or found.hostname != wanted.hostname:
        return False
    if plan.point == "name":
        return True
    if plan.point == "tls" and found.scheme not in ("https", "wss"):
        return False
    return _port(found) == _port(wanted)


def host_of(plan: FaultPlanned) -> str:
    """Return the host that could not be reached."""
    return _split(plan.url).hostname or plan.url


def host_in(text: str) -> str | None:
    """Return the host of a text that is an absolute URL; None for any other."""
    return _split(text).hostname if text.startswith(("http://", "https://")) else None


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
