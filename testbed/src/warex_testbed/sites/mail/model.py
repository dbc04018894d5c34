"""What a mailbox holds, and what may be done to it. No clock: now is always `dates.NOW`."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from warex_testbed.sites.mail.dates import NOW

type Field = Literal["from", "to", "subject", "words"]
type Deed = Literal["label", "move", "archive", "star", "read", "delete"]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who writes or is written to; the name may be empty."""

    name: str
    email: str

    def __str__(self) -> str:
        return self.name or self.email


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a message: its size in words, and what a preview shows as rows of two cells."""

    name: str
    size: str
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `thread` is the number of the conversation's first; `details` are a table.

    `reply_to` and `forwards` are numbers of the messages quoted beneath the body.
    """

    id: int
    thread: int
    sender: Person
    to: tuple[Person, ...]
    subject: str
    body: str
    at: dt.datetime = NOW
    cc: tuple[Person, ...] = ()
    bcc: tuple[Person, ...] = ()
    folder: str = "inbox"
    read: bool = True
    starred: bool = False
    labels: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    signature: str = ""
    reply_to: int | None = None
    forwards: int | None = None

    def order(self) -> tuple[dt.datetime, int]:
        """Sort key: oldest first; what was sent later has the greater number."""
        return (self.at, self.id)

    def as_json(self) -> dict[str, Any]:
        """Return it with addresses for people, names for attachments and an ISO moment."""
        return {
            "id": self.id,
            "thread": self.thread,
            "from": self.sender.email,
            "from_name": self.sender.name,
            "to": [person.email for person in self.to],
            "cc": [person.email for person in self.cc],
            "bcc": [person.email for person in self.bcc],
            "subject": self.subject,
            "body": self.body,
            "at": f"{self.at:%Y-%m-%dT%H:%M}",
            "folder": self.folder,
            "read": self.read,
            "starred": self.starred,
            "labels": list(self.labels),
            "attachments": [each.name for each in self.attachments],
            "signature": self.signature,
            "reply_to": self.reply_to,
            "forwards": self.forwards,
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """A letter that was started; its fields are kept as they were typed."""

    id: int
    to: str = ""
    cc: str = ""
    bcc: str = ""
    subject: str = ""
    body: str = ""
    attachment: str = ""
    reply_to: int | None = None
    forwards: int | None = None


@dataclass(frozen=True, slots=True)
class Contact:
    """One entry of the address book."""

    id: int
    name: str
    email: str
    phone: str = ""
    company: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens to a message whose `field` contains a text; `target` is a label or folder."""

    id: int
    field: Field
    contains: str
    deed: Deed
    target: str = ""


@dataclass(frozen=True, slots=True)
class Vacation:
    """The answer that is sent while the owner is away; the days are ISO dates or empty."""

    on: bool = False
    first: str = ""
    last: str = ""
    subject: str = ""
    body: str = ""
    contacts_only: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """How the owner wants the mail to be shown and signed."""

    signature: str = ""
    density: Literal["comfortable", "compact"] = "comfortable"
    previews: bool = True
    vacation: Vacation = field(default_factory=Vacation)


@dataclass(slots=True)
class Mailbox:
    """All state of one instance of the site; each dict is by number."""

    owner: Person
    messages: dict[int, Message] = field(default_factory=dict)
    drafts: dict[int, Draft] = field(default_factory=dict)
    contacts: dict[int, Contact] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    rules: dict[int, Rule] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    files: tuple[Attachment, ...] = ()
    settings: Settings = field(default_factory=Settings)

    # Messages

    def thread(self, number: int) -> list[Message]:
        """Return a conversation's messages, oldest first; raises KeyError when there is none."""
        messages = [message for message in self.messages.values() if message.thread == number]
        if not messages:
            raise KeyError(number)
        return sorted(messages, key=Message.order)

    def within(self, folder: str) -> list[Message]:
        """Return the messages of one folder."""
        return [message for message in self.messages.values() if message.folder == folder]

    def change(self, messages: Iterable[Message], **fields: Any) -> None:
        """Change fields of messages."""
        for message in messages:
            self.messages[message.id] = replace(message, **fields)

    def move(self, messages: Iterable[Message], folder: str) -> None:
        """Put messages into a folder; from the bin into the bin is the end of them."""
        for message in messages:
            if message.folder == folder == "bin":
                del self.messages[message.id]
            else:
                self.messages[message.id] = replace(message, folder=folder)

    def empty(self, folder: str) -> int:
        """Remove what a folder holds for good; return how many messages that were."""
        messages = self.within(folder)
        for message in messages:
            del self.messages[message.id]
        return len(messages)

    def tag(self, messages: Iterable[Message], label: str) -> None:
        """Add a label to messages that lack it."""
        for message in messages:
            if label not in message.labels:
                self.messages[message.id] = replace(message, labels=(*message.labels, label))

    def send(self, letter: Message) -> Message:
        """Keep a sent letter under a number of its own, in the conversation it belongs to."""
        number = _next(self.messages)
        answered = self.messages.get(letter.reply_to or 0)
        thread = answered.thread if answered else number
        sent = replace(letter, id=number, thread=thread, folder="sent", at=NOW, read=True)
        self.messages[number] = sent
        return sent

    def quoted(self, message: Message) -> Message | None:
        """Return the message that another one quotes, if it is still there."""
        return self.messages.get(message.reply_to or message.forwards or 0)

    # Drafts, contacts, labels, rules

    def keep_draft(self, draft: Draft) -> Draft:
        """Keep a draft: in its old place where it has a number, else under a new one."""
        number = draft.id if draft.id in self.drafts else _next(self.drafts)
        self.drafts[number] = replace(draft, id=number)
        return self.drafts[number]

    def keep_contact(self, contact: Contact) -> Contact:
        """Keep a contact: in its old place where it has a number, else under a new one."""
        number = contact.id if contact.id in self.contacts else _next(self.contacts)
        self.contacts[number] = replace(contact, id=number)
        return self.contacts[number]

    def contact_of(self, email: str) -> Contact | None:
        """Return the contact with this address."""
        return next((each for each in self.contacts.values() if each.email == email.lower()), None)

    def add_label(self, name: str) -> int:
        """Keep a new label; return its number."""
        number = _next(self.labels)
        self.labels[number] = name
        return number

    def rename_label(self, number: int, name: str) -> None:
        """Give a label another name, on messages and in rules too; raises KeyError."""
        before = self.labels[number]
        self.labels[number] = name
        for message in list(self.messages.values()):
            if before in message.labels:
                renamed = tuple(name if each == before else each for each in message.labels)
                self.messages[message.id] = replace(message, labels=renamed)
        for rule in list(self.rules.values()):
            if rule.deed == "label" and rule.target == before:
                self.rules[rule.id] = replace(rule, target=name)

    def remove_label(self, number: int) -> None:
        """Take a label away from everything; raises KeyError."""
        name = self.labels.pop(number)
        for message in list(self.messages.values()):
            left = tuple(each for each in message.labels if each != name)
            self.messages[message.id] = replace(message, labels=left)

    def add_rule(self, rule: Rule) -> Rule:
        """Keep a new rule under a number of its own."""
        number = _next(self.rules)
        self.rules[number] = replace(rule, id=number)
        return self.rules[number]

    def apply(self, rule: Rule) -> int:
        """Do what a rule says to the inbox; return how many messages it met."""
        matching = [message for message in self.within("inbox") if _meets(rule, message)]
        match rule.deed:
            case "label":
                self.tag(matching, rule.target)
            case "star":
                self.change(matching, starred=True)
            case "read":
                self.change(matching, read=True)
            case "archive" | "delete" | "move":
                goal = {"archive": "archive", "delete": "bin", "move": rule.target}[rule.deed]
                self.move(matching, goal)
        return len(matching)

    def as_json(self) -> dict[str, Any]:
        """Return the whole state, for the verifier."""
        messages = sorted(self.messages.values(), key=Message.order)
        return {
            "now": f"{NOW:%Y-%m-%dT%H:%M}",
            "owner": self.owner.email,
            "messages": [message.as_json() for message in messages],
            "sent": [message.as_json() for message in messages if message.folder == "sent"],
            "drafts": _all(self.drafts.values()),
            "contacts": _all(self.contacts.values()),
            "labels": list(self.labels.values()),
            "rules": _all(self.rules.values()),
            "settings": asdict(self.settings),
        }


def _meets(rule: Rule, message: Message) -> bool:
    texts = {
        "from": f"{message.sender.name} {message.sender.email}",
        "to": " ".join(f"{person.name} {person.email}" for person in message.to + message.cc),
        "subject": message.subject,
        "words": f"{message.subject} {message.body}",
    }
    return rule.contains.lower() in texts[rule.field].lower()


def _next(numbered: Iterable[int]) -> int:
    return max(numbered, default=0) + 1


def _all(things: Iterable[Draft | Contact | Rule]) -> Sequence[dict[str, Any]]:
    return [asdict(thing) for thing in things]
