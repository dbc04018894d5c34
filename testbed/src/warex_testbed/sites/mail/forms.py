"""Reads what a person typed into the site's forms, kindly but not guessing."""

import re
from collections.abc import Mapping
from typing import Any, cast, get_args

from warex_testbed.sites.mail.dates import read_day
from warex_testbed.sites.mail.model import (
    Attachment,
    Contact,
    Deed,
    Draft,
    Field,
    Mailbox,
    Message,
    Person,
    Rule,
    Settings,
    Vacation,
)

_EMAIL = re.compile(r"[^@\s,;<>\"]++@(?=[^@]+\.[^@])[^@\s,;<>\"]++")
_NAMED = re.compile(r"(.*)<([^<>]+)>")
_LONGEST = {"subject": 200, "body": 8000, "name": 80, "phone": 40, "company": 80, "notes": 2000}

NO_SUBJECT = "This message has no subject. Send it anyway?"
"""The one complaint that a second press of the button overrules."""


class Problems(Exception):
    """What is wrong with a form: a sentence for each field."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        super().__init__(" ".join(sentences.values()))
        self.sentences = sentences


def read_email(text: str) -> str | None:
    """Read one e-mail address; None for other text."""
    text = text.strip().lower()
    return text if _EMAIL.fullmatch(text) else None


def read_people(text: str, mailbox: Mailbox) -> tuple[Person, ...]:
    """Read recipients: addresses, `Name <address>` or names of contacts, commas between them.

    Raises ValueError with the first that is neither.
    """
    people = {}
    known = {contact.name.lower(): contact for contact in mailbox.contacts.values()}
    for part in filter(None, (part.strip() for part in re.split(r"[,;\n]", text))):
        named = _NAMED.fullmatch(part)
        email = read_email(named[2] if named else part)
        contact = known.get(part.lower()) if email is None else mailbox.contact_of(email)
        if email is None and contact is None:
            raise ValueError(part)
        name = contact.name if contact else named[1].strip() if named else ""
        person = Person(name, contact.email if contact else cast(str, email))
        people[person.email] = person
    return tuple(people.values())


def read_draft(fields: Mapping[str, Any]) -> Draft:
    """Read a letter as it was typed; nothing in it needs to be right yet."""
    texts = _texts(fields)
    return Draft(
        id=read_number(texts.get("draft", "")) or 0,
        **{key: texts.get(key, "") for key in ("to", "cc", "bcc", "subject", "body", "attachment")},
        reply_to=read_number(texts.get("reply_to", "")),
        forwards=read_number(texts.get("forwards", "")),
    )


def read_letter(fields: Mapping[str, Any], mailbox: Mailbox) -> Message:
    """Read a letter (with number 0) that is to be sent. Raises Problems."""
    draft, problems = read_draft(fields), dict[str, str]()
    people: dict[str, tuple[Person, ...]] = {"to": (), "cc": (), "bcc": ()}
    for key in people:
        try:
            people[key] = read_people(getattr(draft, key), mailbox)
        except ValueError as error:
            problems[key] = f"“{error}” is not an e-mail address, nor the name of a contact."
    if not any((draft.to, draft.cc, draft.bcc)):
        problems["to"] = "Say who the message is for."
    problems |= _too_long({"subject": draft.subject, "body": draft.body})
    if not draft.subject and not problems and not fields.get("no_subject"):
        problems["no_subject"] = NO_SUBJECT
    if problems:
        raise Problems(problems)
    forwarded = mailbox.messages.get(draft.forwards or 0)
    return Message(
        id=0,
        thread=0,
        sender=mailbox.owner,
        to=people["to"],
        cc=people["cc"],
        bcc=people["bcc"],
        subject=draft.subject,
        body=draft.body,
        attachments=(forwarded.attachments if forwarded else ()) + _files(draft, mailbox),
        signature=mailbox.settings.signature,
        reply_to=draft.reply_to if draft.reply_to in mailbox.messages else None,
        forwards=forwarded.id if forwarded else None,
    )


def _files(draft: Draft, mailbox: Mailbox) -> tuple[Attachment, ...]:
    return tuple(file for file in mailbox.files if file.name == draft.attachment)


def read_contact(fields: Mapping[str, str], mailbox: Mailbox, number: int = 0) -> Contact:
    """Read a contact's form; `number` is the entry's own. Raises Problems."""
    texts = _texts(fields)
    email = read_email(texts.get("email", ""))
    problems = _too_long(texts)
    if not texts.get("name"):
        problems["name"] = "Enter a name."
    if email is None:
        problems["email"] = "Enter an e-mail address, for example name@warex.test."
    elif (other := mailbox.contact_of(email)) and other.id != number:
        problems["email"] = f"{other.name} has this address already."
    if problems:
        raise Problems(problems)
    rest = {key: texts.get(key, "") for key in ("name", "phone", "company", "notes")}
    return Contact(id=number, email=cast(str, email), **rest)


def read_label(name: str, mailbox: Mailbox, number: int = 0) -> str:
    """Read a label's name; `number` is the label's own. Raises Problems."""
    name = " ".join(name.split())
    taken = {other.lower() for key, other in mailbox.labels.items() if key != number}
    if not name or len(name) > 40:
        raise Problems({"name": "Enter a name of at most 40 characters."})
    if name.lower() in taken:
        raise Problems({"name": f"There is one called “{name}” already."})
    return name


def read_rule(fields: Mapping[str, str], mailbox: Mailbox) -> Rule:
    """Read a rule (with number 0). Raises Problems."""
    texts, problems = _texts(fields), dict[str, str]()
    field, deed = texts.get("field", "from"), texts.get("deed", "archive")
    if field not in get_args(Field.__value__):
        problems["field"] = "Choose what the rule looks at."
    if not texts.get("contains"):
        problems["contains"] = "Enter the text that a message must contain."
    if deed not in get_args(Deed.__value__):
        problems["deed"] = "Choose what happens to the message."
    target = {"label": texts.get("label", ""), "move": texts.get("folder", "")}.get(deed, "")
    if deed == "label" and target not in mailbox.labels.values():
        problems["label"] = "Choose one that exists."
    if deed == "move" and target not in mailbox.folders:
        problems["folder"] = "Choose a folder that exists."
    if problems:
        raise Problems(problems)
    return Rule(0, cast(Field, field), texts["contains"], cast(Deed, deed), target)


def read_settings(fields: Mapping[str, str], before: Settings) -> Settings:
    """Read the general settings; an unknown density stays as it was. Raises Problems."""
    texts = _texts(fields)
    problems = _too_long({"body": texts.get("signature", "")})
    if problems:
        raise Problems({"signature": problems["body"]})
    density = texts.get("density", "")
    return Settings(
        signature=texts.get("signature", ""),
        density="compact" if density == "compact" else "comfortable" if density else before.density,
        previews="previews" in fields,
        vacation=before.vacation,
    )


def read_vacation(fields: Mapping[str, str]) -> Vacation:
    """Read the form of the answer while away. Raises Problems."""
    texts = _texts(fields)
    on, problems = texts.get("on") == "yes", _too_long(texts)
    days = {key: texts.get(key, "") for key in ("first", "last")}
    for key, value in days.items():
        if value and read_day(value) is None:
            problems[key] = "Enter a date as YYYY-MM-DD, for example 2026-07-03."
    if on and not texts.get("body"):
        problems["body"] = "Say what people are to be told."
    if on and not days["first"]:
        problems["first"] = "Say from which day on."
    if not problems and days["first"] and days["last"] and days["last"] < days["first"]:
        problems["last"] = "The last day must not be before the first."
    if problems:
        raise Problems(problems)
    return Vacation(
        on=on,
        first=days["first"],
        last=days["last"],
        subject=texts.get("subject", ""),
        body=texts.get("body", ""),
        contacts_only="contacts_only" in fields,
    )


def _texts(fields: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value).replace("\r\n", "\n").strip() for key, value in fields.items()}


def _too_long(texts: Mapping[str, str]) -> dict[str, str]:
    return {
        key: f"At most {longest} characters fit here."
        for key, longest in _LONGEST.items()
        if len(texts.get(key, "")) > longest
    }


def read_number(text: str) -> int | None:
    """Read the number of a thing; None for other text."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None
