"""The search line: words, phrases in quotes, `from:` and its like, `-` for the opposite."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warex_testbed.sites.mail.dates import read_day
from warex_testbed.sites.mail.model import Mailbox, Message, Person

OPERATORS = ("from", "to", "cc", "subject", "has", "is", "label", "in", "before", "after")
"""What may stand before a colon; anything else there is an ordinary word."""

_TERM = re.compile(r'(-?)(?:(\w+):)?(?:"([^"]*)"|(\S+))')


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that must hold, or with `negated` must not; without an operator it is a text."""

    value: str
    operator: str = ""
    negated: bool = False


def parse(line: str) -> list[Term]:
    """Read a search line; nothing in it is wrong, at worst it finds nothing."""
    terms = []
    for minus, operator, phrase, word in _TERM.findall(line):
        value = (phrase or word).lower()
        if operator and operator.lower() not in OPERATORS:
            operator, value = "", f"{operator}:{value}".lower()
        if value:
            terms.append(Term(value, operator.lower(), bool(minus)))
    return terms


def compose(fields: Mapping[str, str]) -> str:
    """Return the search line that says what the form of the advanced search says."""
    parts = []
    for key in ("from", "to", "subject", "label", "in", "after", "before"):
        value = fields.get(key, "").strip().replace('"', "")
        if value:
            parts.append(f'{key}:"{value}"' if " " in value else f"{key}:{value}")
    words = fields.get("words", "").strip()
    parts += [words] if words else []
    parts += ["has:attachment"] if "attachment" in fields else []
    parts += ["is:unread"] if "unread" in fields else []
    return " ".join(parts)


def search(mailbox: Mailbox, line: str) -> list[Message]:
    """Return the messages for which every term holds, of bin and spam only if asked for."""
    terms = parse(line)
    if not terms:
        return []
    places = {term.value for term in terms if term.operator == "in" and not term.negated}
    aside = {"bin", "spam"} - {_folder(mailbox, place) for place in places}
    return [
        message
        for message in mailbox.messages.values()
        if message.folder not in aside
        and all(_holds(mailbox, message, term) != term.negated for term in terms)
    ]


def _holds(mailbox: Mailbox, message: Message, term: Term) -> bool:
    value = term.value
    match term.operator:
        case "from":
            return value in _names_of([message.sender])
        case "to":
            return value in _names_of(message.to + message.cc)
        case "cc":
            return value in _names_of(message.cc)
        case "subject":
            return value in message.subject.lower()
        case "has":
            return value in ("attachment", "attachments", "file") and bool(message.attachments)
        case "is":
            states = {"unread": not message.read, "read": message.read, "starred": message.starred}
            return states.get(value, False)
        case "label":
            return value in (label.lower() for label in message.labels)
        case "in":
            return value in ("anywhere", "all") or message.folder == _folder(mailbox, value)
        case "before" | "after":
            day = read_day(value)
            if day is None:
                return False
            return message.at.date() < day if term.operator == "before" else message.at.date() > day
    files = " ".join(file.name for file in message.attachments)
    facts = " ".join(f"{name} {fact}" for name, fact in message.details)
    people = _names_of((message.sender, *message.to, *message.cc))
    return value in f"{message.subject} {message.body} {files} {facts} {people}".lower()


def _folder(mailbox: Mailbox, value: str) -> str:
    """Return the folder that is meant: by its own name or by what the brand calls it."""
    names = {name.lower(): folder for folder, name in mailbox.folders.items()}
    return names.get(value, value)


def _names_of(people: Sequence[Person]) -> str:
    return " ".join(f"{person.name} {person.email}" for person in people).lower()
