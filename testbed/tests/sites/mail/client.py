"""A client without scripts, for the pure tests of the mail sites."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.visit import Answer, call, post, visit
from warex_testbed.sites.mail import MailSite, make

HOSTS = ("mail.warex.test", "post.warex.test", "inbox.warex.test")


@dataclass
class Client:
    """A new site of a host, and methods that send it requests."""

    host: str = HOSTS[0]
    site: MailSite = field(init=False)

    def __post_init__(self) -> None:
        self.site = make(self.host)

    def ask(self, target: str) -> Answer:
        return visit(self.site.app, "GET", target)

    def get(self, target: str) -> str:
        return self.ask(target).body.decode()

    def post(self, path: str, **fields: str) -> Answer:
        # `from` and `in` are keywords of Python, so they are passed as `from_` and `in_`.
        form = {key.rstrip("_"): value for key, value in fields.items()}
        return post(self.site, path, **form)

    def call(self, path: str, **fields: Any) -> tuple[int, dict[str, Any]]:
        answer = call(self.site, "POST", path, **fields)
        return answer.status, json.loads(answer.body)

    def state(self, key: str) -> Any:
        return self.site.state()[key]

    def message(self, subject: str) -> dict[str, Any]:
        """Return the only message with this subject."""
        (message,) = (each for each in self.state("messages") if each["subject"] == subject)
        return dict(message)
