"""Every site of the testbed by host; a folder for each kind, a brand for each host."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from warex.testbed.sites.calendar import DAYBOOK, CalendarSite
from warex.testbed.web import Request, Response, Site

CATALOGUE: Mapping[str, Callable[[], Site]] = {
    "calendar.warex.test": lambda: CalendarSite(DAYBOOK),
}
"""How to make a fresh instance of each site; the first also answers for unknown hosts."""


class Sites:
    """One instance of each site; one request at a time, so that a site needs no locks."""

    def __init__(self, catalogue: Mapping[str, Callable[[], Site]] = CATALOGUE) -> None:
        self._catalogue = catalogue
        self._default = next(iter(catalogue))
        self._lock = threading.Lock()
        self._requests = 0
        self.reset()

    def reset(self) -> None:
        """Throw every instance away and start with fresh ones."""
        with self._lock:
            self._sites = {host: make() for host, make in self._catalogue.items()}

    def handle(self, request: Request) -> Response:
        """Answer by the site of the request's host."""
        with self._lock:
            self._requests += 1
            site = self._sites.get(request.host) or self._sites[self._default]
            return site.handle(request)

    @property
    def requests(self) -> int:
        """How many requests have come so far, whatever the host; a reset does not forget them."""
        return self._requests

    def state(self) -> dict[str, Any]:
        """Return the state of each site by host."""
        with self._lock:
            return {host: site.state() for host, site in self._sites.items()}
