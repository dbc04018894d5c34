"""What a forum holds. No clock: `NOW` is always the same moment."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

NOW = dt.datetime(2026, 6, 10, 10, 40, tzinfo=dt.UTC)
"""The site's present moment, a Wednesday."""


class Problems(Exception):
    """Why something was not done: a sentence for each field, or for the whole under `all`."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        super().__init__(" ".join(sentences.values()))
        self.sentences = sentences


@dataclass(frozen=True, slots=True)
class Person:
    """A member; `joined` is a month in words, `role` a title such as Moderator."""

    id: int
    name: str
    joined: str
    place: str = ""
    about: str = ""
    role: str = ""

    @property
    def hue(self) -> int:
        """The colour of the member's face, in degrees."""
        return sum(map(ord, self.name)) * 47 % 360


@dataclass(frozen=True, slots=True)
class Board:
    """A place for topics: a forum, a community or a category, as the brand calls it."""

    id: int
    name: str
    about: str
    colour: str


@dataclass(frozen=True, slots=True)
class Poll:
    """A question with options and how many others chose each."""

    question: str
    options: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """A headed discussion: `post` opens it, `accepted` is the reply that settled it (post ids)."""

    id: int
    title: str
    board: int
    tags: tuple[str, ...]
    post: int
    views: int = 0
    pinned: bool = False
    accepted: int | None = None
    poll: Poll | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """One contribution; `votes` are the others', `parent` is None for what answers the topic.

    A post that was deleted under its replies stays, empty, with `deleted`.
    """

    id: int
    topic: int
    author: int
    text: str
    at: dt.datetime
    parent: int | None = None
    votes: int = 0
    edited: bool = False
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What a report tells the moderators about a post."""

    post: int
    reason: str
    details: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A private message between the owner and `person`; `sent` by the owner or received."""

    id: int
    person: int
    subject: str
    text: str
    at: dt.datetime
    sent: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened to the owner: who did what, where and when."""

    person: int
    what: str
    topic: int
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class Settings:
    """The owner's own: how often mail comes, what it tells, what others read on the profile."""

    digest: str = "weekly"
    reply_mail: bool = True
    message_mail: bool = True
    place: str = ""
    about: str = ""
