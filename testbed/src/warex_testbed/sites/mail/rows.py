"""The lines of a message list: one for each conversation."""

from collections.abc import Iterable
from dataclasses import dataclass

from warex_testbed.sites.mail import dates
from warex_testbed.sites.mail.model import Mailbox, Message

_SNIPPET = 140


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation in a list; `message` is its newest there, `count` counts all its messages."""

    message: Message
    people: str
    count: int
    unread: bool
    starred: bool
    attached: bool

    @property
    def when(self) -> str:
        """`09:12` or `9 June`."""
        return dates.brief(self.message.at)

    @property
    def age(self) -> str:
        """Today, yesterday, and so on."""
        return dates.age(self.message.at)

    @property
    def snippet(self) -> str:
        """How the newest message begins."""
        return " ".join(self.message.body.split())[:_SNIPPET]


def rows(mailbox: Mailbox, messages: Iterable[Message]) -> list[Row]:
    """Return a row for each conversation of these messages, the newest first."""
    threads: dict[int, list[Message]] = {}
    for message in sorted(messages, key=Message.order):
        threads.setdefault(message.thread, []).append(message)
    made = [_row(mailbox, group) for group in threads.values()]
    return sorted(made, key=lambda row: row.message.order(), reverse=True)


def _row(mailbox: Mailbox, group: list[Message]) -> Row:
    newest = group[-1]
    if newest.folder == "sent":
        people = "To " + ", ".join(map(str, newest.to))
    else:
        senders = dict.fromkeys(str(each.sender) for each in group if each.sender != mailbox.owner)
        people = ", ".join(senders) or str(mailbox.owner)
    return Row(
        message=newest,
        people=people,
        count=sum(each.thread == newest.thread for each in mailbox.messages.values()),
        unread=any(not each.read for each in group),
        starred=any(each.starred for each in group),
        attached=any(each.attachments for each in group),
    )
