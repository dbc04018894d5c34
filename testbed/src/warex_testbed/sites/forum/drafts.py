"""Reads what a person typed into the forum's forms, kindly but not guessing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warex_testbed.sites.forum.model import Problems, Settings

_TAG = re.compile(r"[a-z0-9][a-z0-9+.-]{0,23}")
MOST_TAGS = 4
LONGEST_TEXT = 8000
_LONGEST = {
    "title": 140,
    "text": LONGEST_TEXT,
    "details": 1000,
    "subject": 140,
    "place": 80,
    "about": 600,
}


@dataclass(frozen=True, slots=True)
class TopicDraft:
    """What the form of a new topic holds once it is right."""

    title: str
    board: int
    tags: tuple[str, ...]
    text: str


def _field(fields: Mapping[str, Any], name: str) -> str:
    return str(fields.get(name, "")).replace("\r\n", "\n").strip()


def _long(name: str, text: str, problems: dict[str, str]) -> None:
    if len(text) > _LONGEST[name]:
        problems[name] = f"At most {_LONGEST[name]} characters fit here; these are {len(text)}."


def read_number(text: object) -> int | None:
    """Read a whole number out of a form; None for other text."""
    digits = str(text).strip()
    return int(digits) if re.fullmatch(r"[0-9]{1,9}", digits) else None


def read_tags(text: str) -> tuple[str, ...]:
    """Read `wet weather, Chains`: commas or spaces between, in small letters, each once."""
    return tuple(dict.fromkeys(filter(None, re.split(r"[,\s]+", text.lower()))))


def read_topic(fields: Mapping[str, Any], boards: Mapping[int, object]) -> TopicDraft:
    """Read a new topic. Raises Problems."""
    title, text = _field(fields, "title"), _field(fields, "text")
    board, tags = read_number(fields.get("board", "")), read_tags(_field(fields, "tags"))
    problems: dict[str, str] = {}
    if len(title) < 8:
        problems["title"] = "Say in a line what it is about: at least 8 characters."
    _long("title", title, problems)
    if board not in boards:
        problems["board"] = "Choose where it belongs."
    if not 1 <= len(tags) <= MOST_TAGS:
        problems["tags"] = f"Give one to {MOST_TAGS} tags with commas between them."
    elif not all(_TAG.fullmatch(tag) for tag in tags):
        problems["tags"] = "A tag has letters, digits and hyphens only, for example wet-weather."
    if len(text) < 10:
        problems["text"] = "Write a little more: at least 10 characters."
    _long("text", text, problems)
    if problems or board is None:
        raise Problems(problems)
    return TopicDraft(title, board, tags, text)


def read_text(fields: Mapping[str, Any]) -> str:
    """Read a reply or an edited post. Raises Problems."""
    text = _field(fields, "text")
    problems = {} if text else {"text": "There is nothing in it yet."}
    _long("text", text, problems)
    if problems:
        raise Problems(problems)
    return text


def read_report(fields: Mapping[str, Any], reasons: tuple[str, ...]) -> tuple[str, str]:
    """Read reason and details of a report. Raises Problems."""
    reason, details = _field(fields, "reason"), _field(fields, "details")
    problems: dict[str, str] = {}
    if reason not in reasons:
        problems["reason"] = "Choose a reason."
    _long("details", details, problems)
    if problems:
        raise Problems(problems)
    return reason, details


def read_message(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Read subject and text of a private message. Raises Problems."""
    subject, text = _field(fields, "subject"), _field(fields, "text")
    problems: dict[str, str] = {}
    if not subject:
        problems["subject"] = "Give the message a subject."
    if not text:
        problems["text"] = "The message is empty."
    _long("subject", subject, problems)
    _long("text", text, problems)
    if problems:
        raise Problems(problems)
    return subject, text


def read_vote(fields: Mapping[str, Any]) -> int:
    """Read 1, -1 or 0. Raises Problems."""
    value = str(fields.get("value", ""))
    if value not in ("1", "-1", "0"):
        raise Problems({"value": "A vote is 1, -1 or 0."})
    return int(value)


def read_switch(fields: Mapping[str, Any]) -> bool:
    """Read whether something is wanted or no longer. Raises Problems."""
    value = str(fields.get("on", ""))
    if value not in ("1", "0"):
        raise Problems({"on": "Send 1 to switch it on or 0 to switch it off."})
    return value == "1"


def read_settings(fields: Mapping[str, Any], digests: Mapping[str, str]) -> Settings:
    """Read the settings form. Raises Problems."""
    place, about, digest = (_field(fields, name) for name in ("place", "about", "digest"))
    problems: dict[str, str] = {}
    if digest not in digests:
        problems["digest"] = f"Choose one of {', '.join(digests.values())}."
    _long("place", place, problems)
    _long("about", about, problems)
    if problems:
        raise Problems(problems)
    return Settings(
        digest=digest,
        reply_mail="reply_mail" in fields,
        message_mail="message_mail" in fields,
        place=place,
        about=about,
    )
