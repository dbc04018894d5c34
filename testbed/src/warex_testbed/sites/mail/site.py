"""One mail site: the pages of all its parts behind one door."""

from http import HTTPStatus
from typing import Any

from warex_testbed.sites.mail.desk import Desk, static
from warex_testbed.sites.mail.filing import Filing
from warex_testbed.sites.mail.people import People
from warex_testbed.sites.mail.preferences import Preferences
from warex_testbed.sites.mail.reading import Reading
from warex_testbed.sites.mail.seed import brand, fresh
from warex_testbed.sites.mail.writing import Writing
from warex_testbed.web import Request, Response, as_json, dispatch


class MailSite:
    """One person's mail, fresh; requests are answered one at a time."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        parts = (Reading(desk), Writing(desk), Filing(desk), People(desk), Preferences(desk))
        self._routes = tuple(route for part in parts for route in part.routes)

    def state(self) -> dict[str, Any]:
        """Return messages, what was sent, drafts, contacts, labels, rules and settings."""
        return self._desk.mailbox.as_json()

    def handle(self, request: Request) -> Response:
        """Answer a request: a static file, a page, a form or a call of the scripts."""
        if request.path in static():
            return static()[request.path]
        try:
            answer = dispatch(self._routes, request)
        except KeyError:  # something that was deleted, or never was
            answer = None
        if answer is not None:
            return answer
        if request.path.startswith("/api/"):
            return as_json({"error": "That is not there any more."}, HTTPStatus.NOT_FOUND)
        return self._desk.missing(request)


def make(host: str) -> MailSite:
    """Return a fresh mail site of the brand that the host stands for."""
    return MailSite(Desk(brand(host), fresh(host)))
