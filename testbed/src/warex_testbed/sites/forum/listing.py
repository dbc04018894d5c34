"""Which topics a page lists, in which order; which posts a search finds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from warex_testbed.sites.forum.forum import Forum
from warex_testbed.sites.forum.model import NOW, Post, Topic


@dataclass(frozen=True, slots=True)
class Slice[T]:
    """One page of a list; pages count from 1."""

    items: tuple[T, ...]
    page: int
    pages: int
    total: int


def cut[T](items: Sequence[T], page: int, size: int) -> Slice[T]:
    """Return a page of a list; a page that does not exist is the nearest one."""
    pages = max(1, -(-len(items) // size))
    page = min(max(page, 1), pages)
    return Slice(tuple(items[(page - 1) * size : page * size]), page, pages, len(items))


def _hotness(forum: Forum, topic: Topic) -> float:
    """Votes and replies, weighed down by age: half of it is gone after two days."""
    opening = forum.opening(topic)
    liveliness = forum.score(opening) + 2 * len(forum.replies(topic)) + 1
    half_lives: float = (NOW - opening.at) / timedelta(days=2)
    return float(liveliness * 0.5**half_lives)


_ORDERS: dict[str, Callable[[Forum, Topic], tuple[float, int]]] = {
    "active": lambda forum, topic: (forum.latest(topic).at.timestamp(), topic.id),
    "new": lambda forum, topic: (forum.opening(topic).at.timestamp(), topic.id),
    "top": lambda forum, topic: (forum.score(forum.opening(topic)), topic.id),
    "hot": lambda forum, topic: (_hotness(forum, topic), topic.id),
    "unanswered": lambda forum, topic: (forum.opening(topic).at.timestamp(), topic.id),
}

SORTS = tuple(_ORDERS)
"""The orders there are."""


def topics(
    forum: Forum, sort: str, board: int | None = None, tag: str | None = None
) -> list[Topic]:
    """Return the topics of a board or tag (or all) in an order; `unanswered` leaves out others.

    Pinned topics come first in the order of activity.
    """
    listed = [
        topic
        for topic in forum.topics.values()
        if board in (None, topic.board)
        and (tag is None or tag in topic.tags)
        and (sort != "unanswered" or not forum.replies(topic))
    ]
    listed.sort(key=lambda topic: _ORDERS[sort](forum, topic), reverse=True)
    if sort == "active":
        listed.sort(key=lambda topic: not topic.pinned)
    return listed


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for. `settled` is `yes`, `no` or empty: whether a reply was accepted."""

    words: str = ""
    board: int | None = None
    author: str = ""
    settled: str = ""
    sort: str = "top"

    @property
    def empty(self) -> bool:
        """Whether nothing is asked yet."""
        return not (self.words.strip() or self.author.strip() or self.board or self.settled)


def search(forum: Forum, wanted: Search) -> list[Post]:
    """Return the best post of each topic where all words are in the post and its title.

    The opening post comes before replies; topics in the order of `sort`.
    """
    words = wanted.words.lower().split()
    author = wanted.author.strip().lower()
    results: list[Post] = []
    for topic in topics(forum, wanted.sort, wanted.board):
        if wanted.settled and (topic.accepted is not None) != (wanted.settled == "yes"):
            continue
        posts = [forum.opening(topic), *forum.replies(topic)]
        fits = (
            post
            for post in posts
            if author in ("", forum.people[post.author].name.lower())
            and all(word in f"{topic.title} {post.text}".lower() for word in words)
        )
        best = next(fits, None)
        if best is not None:
            results.append(best)
    return results


@dataclass(frozen=True, slots=True)
class Branch:
    """A post in its thread with how deep it stands; `number` counts the topic's posts by time."""

    post: Post
    depth: int
    number: int
    answers: int


def thread(forum: Forum, topic: Topic, order: str) -> list[Branch]:
    """Return the replies of a topic in reading order.

    `time` is flat and oldest first; `new` and `best` keep answers under what they answer, and
    begin with the newest or the accepted and best. Under a reply the oldest comes first.
    """
    posts = forum.thread(topic)
    numbers = {post.id: number for number, post in enumerate(posts, start=1)}
    below: dict[int | None, list[Post]] = {}
    for post in posts:
        if post.id != topic.post:
            below.setdefault(post.parent, []).append(post)

    def branch(post: Post, depth: int) -> Branch:
        return Branch(post, depth, numbers[post.id], len(below.get(post.id, ())))

    if order == "time":
        return [branch(post, 0) for post in posts if post.id != topic.post]
    roots = below.get(None, [])
    if order == "new":
        roots = roots[::-1]
    else:
        roots = sorted(roots, key=lambda p: (p.id != topic.accepted, -forum.score(p)))
    read: list[Branch] = []
    waiting = [(post, 0) for post in reversed(roots)]
    while waiting:
        post, depth = waiting.pop()
        read.append(branch(post, depth))
        waiting += [(child, depth + 1) for child in reversed(below.get(post.id, ()))]
    return read
