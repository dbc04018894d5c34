"""The brands and what their mailboxes start with, read once from a file for each in `brands/`.

A brand's file says everything that is its own: name, layout, words, folders, people, messages.
"""

import datetime as dt
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from warex_testbed.sites.mail.model import (
    Attachment,
    Contact,
    Draft,
    Mailbox,
    Message,
    Person,
    Rule,
    Settings,
    Vacation,
)

_BRANDS = Path(__file__).parent / "brands"


@dataclass(frozen=True, slots=True)
class Brand:
    """How a mail site presents itself.

    `layout` names its frame and style sheet. With `dialogs`, letters are written in a dialog that a
    script opens, else on a page of their own; with `routed`, a script opens messages in place.
    `words` are what its buttons say, `done` what it says after a change, `folders` their names.
    """

    name: str
    layout: Literal["panes", "pages", "cards"]
    dialogs: bool
    routed: bool
    per_page: int
    words: Mapping[str, str]
    done: Mapping[str, str]
    folders: Mapping[str, str]


@functools.cache
def _table(host: str) -> dict[str, Any]:
    return tomllib.loads((_BRANDS / f"{host.split('.')[0]}.toml").read_text("utf-8"))


@functools.cache
def brand(host: str) -> Brand:
    """Return the brand of a host."""
    table = _table(host)
    return Brand(
        **table["brand"], words=table["words"], done=table["done"], folders=table["folders"]
    )


@functools.cache
def _messages(host: str) -> Mapping[int, Message]:
    table = _table(host)
    people = {row["key"]: Person(row["name"], row["email"]) for row in table["person"]}
    people["me"] = Person(**table["owner"])
    threads: dict[str, int] = {}
    messages = {}
    for number, row in enumerate(table["message"], start=1):
        messages[number] = Message(
            id=number,
            thread=threads.setdefault(row.get("thread", f"#{number}"), number),
            sender=people[row["from"]],
            to=tuple(people[key] for key in row.get("to", ["me"])),
            cc=tuple(people[key] for key in row.get("cc", [])),
            subject=row["subject"],
            body=row["body"].strip(),
            at=dt.datetime.fromisoformat(row["at"]),
            folder=row.get("folder", "inbox"),
            read=not row.get("unread", False),
            starred=row.get("starred", False),
            labels=tuple(row.get("labels", [])),
            attachments=tuple(_file(file) for file in row.get("files", [])),
            details=_pairs(row.get("details", [])),
        )
    return messages


def _file(row: Mapping[str, Any]) -> Attachment:
    return Attachment(row["name"], row["size"], _pairs(row.get("rows", [])))


def _pairs(rows: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in rows)


def fresh(host: str) -> Mailbox:
    """Return a new mailbox of the host's brand, equal each time."""
    table = _table(host)
    with_contact = [row for row in table["person"] if row.get("contact", True)]
    contacts = [
        Contact(number, **{key: row[key] for key in row if key not in ("key", "contact")})
        for number, row in enumerate(with_contact, start=1)
    ]
    return Mailbox(
        owner=Person(**table["owner"]),
        messages=dict(_messages(host)),
        drafts={number: Draft(number, **row) for number, row in enumerate(table["draft"], start=1)},
        contacts={contact.id: contact for contact in contacts},
        labels=dict(enumerate(table["labels"], start=1)),
        rules={
            number: Rule(number, **row) for number, row in enumerate(table.get("rule", []), start=1)
        },
        folders={
            folder: name
            for folder, name in table["folders"].items()
            if folder not in ("starred", "drafts")
        },
        files=tuple(_file(row) for row in table["file"]),
        settings=Settings(
            signature=table["signature"].strip(),
            vacation=Vacation(subject=table.get("away_subject", "")),
        ),
    )
