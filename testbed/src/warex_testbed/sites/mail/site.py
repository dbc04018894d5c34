"""One mail site: the pages of all its parts behind one door."""

from typing import Any

from warex_testbed.sites.mail.base_view import HERE, BaseView
from warex_testbed.sites.mail.filing import Filing
from warex_testbed.sites.mail.people import People
from warex_testbed.sites.mail.preferences import Preferences
from warex_testbed.sites.mail.reading import Reading
from warex_testbed.sites.mail.seed import brand, fresh
from warex_testbed.sites.mail.writing import Writing
from warex_testbed.web import application


class MailSite:
    """One person's mail, fresh; requests are answered one at a time."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        parts = (Reading(view), Writing(view), Filing(view), People(view), Preferences(view))
        routes = (each for part in parts for each in part.routes)
        self.app = application(routes, view.missing, HERE)

    def state(self) -> dict[str, Any]:
        """Return messages, what was sent, drafts, contacts, labels, rules and settings."""
        return self._view.mailbox.as_json()


def make(host: str) -> MailSite:
    """Return a fresh mail site of the brand that the host stands for."""
    return MailSite(BaseView(brand(host), fresh(host)))
