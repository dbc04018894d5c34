"""What a fresh forum of a brand holds, read once from the brand's file."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from warex_testbed.sites.forum.brands import read
from warex_testbed.sites.forum.forum import Forum
from warex_testbed.sites.forum.model import (
    Board,
    Message,
    Notice,
    Person,
    Poll,
    Post,
    Settings,
    Topic,
)


def read_moment(text: str) -> datetime:
    """Read `06-09 18:20`, of the present year, or `2025-11-03 08:00`."""
    return datetime.fromisoformat(text if text[:2] == "20" else f"2026-{text}").replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Seed:
    """What is the same in every instance; the last five are the owner's own."""

    owner: int
    people: Mapping[int, Person]
    boards: Mapping[int, Board]
    topics: Mapping[int, Topic]
    posts: Mapping[int, Post]
    messages: tuple[Message, ...]
    notices: tuple[Notice, ...]
    following: tuple[int, ...]
    joined: tuple[int, ...]
    watched: tuple[int, ...]
    saved: tuple[int, ...]
    liked: tuple[int, ...]


@functools.cache
def _seed(slug: str) -> _Seed:
    table = read(slug)
    people = {n: Person(id=n, **row) for n, row in enumerate(table["person"], start=1)}
    boards = {n: Board(id=n, **row) for n, row in enumerate(table["board"], start=1)}
    persons = {person.name: person.id for person in people.values()}
    places = {board.name: board.id for board in boards.values()}
    topics: dict[int, Topic] = {}
    posts: dict[int, Post] = {}
    marked: dict[str, list[int]] = {"saved": [], "liked": [], "watched": []}
    for number, row in enumerate(table["topic"], start=1):
        written = list(_posts(row, number, max(posts, default=0) + 1, persons))
        accepted = None
        for post, entry in zip(written, [row, *row.get("reply", ())], strict=True):
            posts[post.id] = post
            accepted = post.id if entry.get("accepted") else accepted
            for mark in ("saved", "liked"):
                if entry.get(mark):
                    marked[mark].append(post.id)
        if row.get("watched"):
            marked["watched"].append(number)
        topics[number] = Topic(
            id=number,
            title=row["title"],
            board=places[row["board"]],
            tags=tuple(row["tags"]),
            post=written[0].id,
            views=row["views"],
            pinned=row.get("pinned", False),
            accepted=accepted,
            poll=_poll(row.get("poll")),
        )
    titles = {topic.title: topic.id for topic in topics.values()}
    owner = table["owner"]
    return _Seed(
        owner=persons[owner["name"]],
        people=people,
        boards=boards,
        topics=topics,
        posts=posts,
        messages=tuple(
            Message(
                id=n,
                person=persons[row["person"]],
                subject=row["subject"],
                text=row["text"].strip(),
                at=read_moment(row["at"]),
                sent=row.get("sent", False),
            )
            for n, row in enumerate(table["message"], start=1)
        ),
        notices=tuple(
            Notice(
                persons[row["person"]], row["what"], titles[row["topic"]], read_moment(row["at"])
            )
            for row in table["notice"]
        ),
        following=tuple(persons[name] for name in owner["following"]),
        joined=tuple(places[name] for name in owner["joined"]),
        watched=tuple(marked["watched"]),
        saved=tuple(marked["saved"]),
        liked=tuple(marked["liked"]),
    )


def _posts(
    row: Mapping[str, Any], topic: int, first: int, persons: Mapping[str, int]
) -> Iterator[Post]:
    for number, entry in enumerate([row, *row.get("reply", ())], start=first):
        yield Post(
            id=number,
            topic=topic,
            author=persons[entry["by"]],
            text=entry["text"].strip(),
            at=read_moment(entry["at"]),
            parent=first + entry["to"] if "to" in entry else None,
            votes=entry.get("votes", 0),
        )


def _poll(row: Mapping[str, Any] | None) -> Poll | None:
    if row is None:
        return None
    return Poll(row["question"], tuple(row["options"]), tuple(row["counts"]))


def fresh(slug: str) -> Forum:
    """Return a new forum of a brand, equal each time."""
    seed = _seed(slug)
    owner = seed.people[seed.owner]
    return Forum(
        owner=seed.owner,
        people=dict(seed.people),
        boards=dict(seed.boards),
        topics=dict(seed.topics),
        posts=dict(seed.posts),
        messages=list(seed.messages),
        notices=list(seed.notices),
        settings=Settings(place=owner.place, about=owner.about),
        votes=dict.fromkeys(seed.liked, 1),
        saved=list(seed.saved),
        following=list(seed.following),
        watched=list(seed.watched),
        joined=list(seed.joined),
    )
