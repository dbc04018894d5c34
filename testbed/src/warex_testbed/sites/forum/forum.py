"""All state of one forum, and what its owner may do to it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from warex_testbed.sites.forum.model import (
    NOW,
    Board,
    Message,
    Notice,
    Person,
    Post,
    Problems,
    Report,
    Settings,
    Topic,
)


@dataclass(slots=True)
class Forum:
    """One instance; `owner` is the member who is signed in.

    Each write is also a line of `writes`: what is sent again shows there even where it changes
    nothing, as a second equal vote does.
    """

    owner: int
    people: dict[int, Person]
    boards: dict[int, Board]
    topics: dict[int, Topic]
    posts: dict[int, Post]
    messages: list[Message]
    notices: list[Notice]
    settings: Settings
    votes: dict[int, int] = field(default_factory=dict)
    saved: list[int] = field(default_factory=list)
    following: list[int] = field(default_factory=list)
    watched: list[int] = field(default_factory=list)
    joined: list[int] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    choices: dict[int, int] = field(default_factory=dict)
    notices_read: bool = False
    writes: list[dict[str, Any]] = field(default_factory=list)

    # Reading

    def score(self, post: Post) -> int:
        """Return the votes of all, the owner's among them."""
        return post.votes + self.votes.get(post.id, 0)

    def opening(self, topic: Topic) -> Post:
        """Return the post that opens a topic."""
        return self.posts[topic.post]

    def replies(self, topic: Topic) -> list[Post]:
        """Return the posts after the opening post, oldest first, without deleted ones."""
        return [post for post in self.thread(topic) if post.id != topic.post and not post.deleted]

    def answers(self, topic: Topic) -> list[Post]:
        """Return the replies to the topic itself, not those to other replies."""
        return [post for post in self.replies(topic) if post.parent is None]

    def thread(self, topic: Topic) -> list[Post]:
        """Return all posts of a topic, oldest first."""
        posts = [post for post in self.posts.values() if post.topic == topic.id]
        return sorted(posts, key=lambda post: (post.at, post.id))

    def latest(self, topic: Topic) -> Post:
        """Return the newest post of a topic."""
        return self.thread(topic)[-1]

    def written_by(self, person: int) -> list[Post]:
        """Return a member's posts, newest first."""
        posts = [p for p in self.posts.values() if p.author == person and not p.deleted]
        return sorted(posts, key=lambda post: (post.at, post.id), reverse=True)

    def tags(self) -> dict[str, int]:
        """Return every tag with the number of its topics, the most used first."""
        counts: dict[str, int] = {}
        for topic in self.topics.values():
            for tag in topic.tags:
                counts[tag] = counts.get(tag, 0) + 1
        return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))

    def is_mine(self, post: Post) -> bool:
        """Tell whether the owner wrote a post that is still there."""
        return post.author == self.owner and not post.deleted

    # What may be done; each raises KeyError for a number that nothing has

    def add_topic(self, title: str, board: int, tags: Sequence[str], text: str) -> Topic:
        """Open a topic."""
        number = max(self.topics, default=0) + 1
        post = self._add_post(number, text, None)
        topic = Topic(number, title, self.boards[board].id, tuple(tags), post.id)
        self.topics[number] = topic
        self._wrote("topic", topic=title)
        return topic

    def reply(self, topic: int, text: str, parent: int | None = None) -> Post:
        """Answer a topic, or one of its posts."""
        where = self.topics[topic]
        if parent is not None and (parent == where.post or self.posts[parent].topic != topic):
            parent = None
        post = self._add_post(where.id, text, parent)
        self._wrote("reply", topic=where.title, post=post.id)
        return post

    def _add_post(self, topic: int, text: str, parent: int | None) -> Post:
        post = Post(max(self.posts, default=0) + 1, topic, self.owner, text, NOW, parent)
        self.posts[post.id] = post
        return post

    def edit(self, number: int, text: str) -> Post:
        """Put another text in a post of the owner's."""
        post = self._own(number)
        self.posts[number] = replace(post, text=text, edited=True)
        self._wrote("edit", post=number)
        return self.posts[number]

    def retitle(self, number: int, title: str, board: int, tags: Sequence[str]) -> None:
        """Put another head on a topic of the owner's."""
        topic = self.topics[number]
        self._own(topic.post)
        self.topics[number] = replace(
            topic, title=title, board=self.boards[board].id, tags=tuple(tags)
        )

    def delete(self, number: int) -> Topic | None:
        """Take a post of the owner's away; return its topic, or None when that went with it."""
        post = self._own(number)
        topic = self.topics[post.topic]
        if number == topic.post:
            if self.replies(topic):
                raise Problems({"all": "Others have replied already, so this cannot be deleted."})
            for reply in self.thread(topic):
                self._forget(reply.id)
            del self.topics[topic.id]
            self._wrote("delete", post=number)
            return None
        if any(other.parent == number for other in self.posts.values()):
            self.posts[number] = replace(post, text="", deleted=True)
        else:
            self._forget(number)
        if topic.accepted == number:
            self.topics[topic.id] = replace(topic, accepted=None)
        self._wrote("delete", post=number)
        return self.topics[topic.id]

    def _forget(self, number: int) -> None:
        del self.posts[number]
        self.saved = [post for post in self.saved if post != number]

    def _own(self, number: int) -> Post:
        post = self.posts[number]
        if not self.is_mine(post):
            raise Problems({"all": "Only who wrote it may do that."})
        return post

    def vote(self, number: int, value: int) -> Post:
        """Vote 1, -1 or 0 (take the vote back) for somebody else's post."""
        post = self.posts[number]
        if post.author == self.owner:
            raise Problems({"all": "Nobody votes for what they wrote themselves."})
        self.votes.pop(number, None)
        if value:
            self.votes[number] = value
        self._wrote("vote", post=number, value=value)
        return post

    def accept(self, number: int) -> Topic:
        """Say that a reply settled the owner's own topic."""
        post = self.posts[number]
        topic = self.topics[post.topic]
        if self.opening(topic).author != self.owner or number == topic.post:
            raise Problems({"all": "Only who asked may choose a reply that settles it."})
        self.topics[topic.id] = replace(topic, accepted=number)
        self._wrote("accept", post=number)
        return self.topics[topic.id]

    def save(self, number: int, on: bool) -> Post:
        """Keep a post for later, or no longer."""
        post = self.posts[number]
        _switch(self.saved, number, on)
        self._wrote("save", post=number, on=on)
        return post

    def follow(self, number: int, on: bool) -> Person:
        """Follow a member, or no longer."""
        person = self.people[number]
        if number == self.owner:
            raise Problems({"all": "Nobody follows themselves."})
        _switch(self.following, number, on)
        self._wrote("follow", person=person.name, on=on)
        return person

    def watch(self, number: int, on: bool) -> Topic:
        """Be told of replies to a topic, or no longer."""
        topic = self.topics[number]
        _switch(self.watched, number, on)
        self._wrote("watch", topic=topic.title, on=on)
        return topic

    def join(self, number: int, on: bool) -> Board:
        """Subscribe to a board, or no longer."""
        board = self.boards[number]
        _switch(self.joined, number, on)
        self._wrote("join", board=board.name, on=on)
        return board

    def report(self, number: int, reason: str, details: str) -> Post:
        """Tell the moderators about a post."""
        post = self.posts[number]
        self.reports.append(Report(number, reason, details))
        self._wrote("report", post=number)
        return post

    def choose(self, number: int, option: int) -> Topic:
        """Vote in a topic's poll; raises KeyError when it has none or no such option."""
        topic = self.topics[number]
        if topic.poll is None or not 0 <= option < len(topic.poll.options):
            raise KeyError(number)
        self.choices[number] = option
        self._wrote("poll", topic=topic.title, choice=topic.poll.options[option])
        return topic

    def send(self, person: int, subject: str, text: str) -> Message:
        """Write to a member in private."""
        to = self.people[person]
        number = 1 + max((message.id for message in self.messages), default=0)
        self.messages.append(Message(number, to.id, subject, text, NOW, sent=True))
        self._wrote("message", to=to.name)
        return self.messages[-1]

    def read_notices(self) -> None:
        """Mark what happened as seen."""
        self.notices_read = True
        self._wrote("read")

    def configure(self, settings: Settings) -> None:
        """Keep other settings; what they say of the owner shows on the profile."""
        self.settings = settings
        self.people[self.owner] = replace(
            self.people[self.owner], place=settings.place, about=settings.about
        )
        self._wrote("settings")

    def _wrote(self, what: str, **details: Any) -> None:
        self.writes.append({"what": what} | details)

    # For the verifier

    def as_json(self) -> dict[str, Any]:
        """Return the whole state, by names where a person would say a name."""

        def name(number: int) -> str:
            return self.people[number].name

        def title(number: int) -> str:
            return self.topics[number].title

        def place(number: int) -> dict[str, Any]:
            post = self.posts.get(number)
            if post is None:  # a report outlives its post
                return {"post": number, "topic": None, "author": None}
            return {"post": number, "topic": title(post.topic), "author": name(post.author)}

        return {
            "today": NOW.date().isoformat(),
            "owner": name(self.owner),
            "boards": [
                {"id": board.id, "name": board.name, "joined": board.id in self.joined}
                for board in self.boards.values()
            ],
            "topics": [self._topic(topic) for topic in self.topics.values()],
            "posts": [self._post(post) for post in self.posts.values()],
            "votes": [place(post) | {"value": value} for post, value in self.votes.items()],
            "saved": [place(post) for post in self.saved],
            "following": [{"name": name(person)} for person in self.following],
            "watched": [{"topic": title(topic)} for topic in self.watched if topic in self.topics],
            "reports": [
                place(each.post) | {"reason": each.reason, "details": each.details}
                for each in self.reports
            ],
            "polls": [
                {
                    "topic": topic.title,
                    "choice": topic.poll.options[self.choices[topic.id]]
                    if topic.id in self.choices
                    else None,
                }
                for topic in self.topics.values()
                if topic.poll
            ],
            "messages": [
                {
                    "id": message.id,
                    "person": name(message.person),
                    "subject": message.subject,
                    "text": message.text,
                    "sent": message.sent,
                }
                for message in self.messages
            ],
            "notices_read": self.notices_read,
            "settings": asdict(self.settings),
            "writes": list(self.writes),
        }

    def _topic(self, topic: Topic) -> dict[str, Any]:
        opening = self.opening(topic)
        return {
            "id": topic.id,
            "title": topic.title,
            "board": self.boards[topic.board].name,
            "tags": list(topic.tags),
            "author": self.people[opening.author].name,
            "text": opening.text,
            "replies": len(self.replies(topic)),
            "accepted": topic.accepted,
        }

    def _post(self, post: Post) -> dict[str, Any]:
        topic = self.topics[post.topic]
        return {
            "id": post.id,
            "topic": topic.title,
            "opening": post.id == topic.post,
            "author": self.people[post.author].name,
            "text": post.text,
            "at": f"{post.at.astimezone(dt.UTC):%Y-%m-%d %H:%M}",
            "parent": post.parent,
            "votes": self.score(post),
            "my_vote": self.votes.get(post.id, 0),
            "mine": post.author == self.owner,
            "edited": post.edited,
            "deleted": post.deleted,
            "accepted": post.id == topic.accepted,
        }


def _switch(chosen: list[int], number: int, on: bool) -> None:
    if on and number not in chosen:
        chosen.append(number)
    elif not on and number in chosen:
        chosen.remove(number)
