"""Whether a browser or a program made a request.

A program has no page: nothing asks again there but its own code and its client library.
"""

import re

from warex.traces.events import RequestSeen

_BROWSER = "Mozilla/"
"""With what the User-Agent of every browser begins, and of some programs."""
_CHROMIUM = re.compile(r"\bChrome/\d")


def by_program(request: RequestSeen) -> bool:
    """Whether a program made a request; False if nothing shows whose it is.

    Node's ``fetch`` also sends Fetch Metadata, so the User-Agent counts first. A program that calls
    itself Chromium lacks the Fetch Metadata that Chromium sends over HTTPS.
    """
    headers = {name.lower(): value for name, value in request.headers}
    agent = headers.get("user-agent")
    if agent is None:
        return False
    if not agent.startswith(_BROWSER):
        return True
    is_secure = request.url.startswith("https://")
    return bool(is_secure and _CHROMIUM.search(agent)) and not any(
        name.startswith("sec-fetch-") for name in headers
    )
