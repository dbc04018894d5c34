"""The forum's pages: what each shows of the state, in the brand's layout and words."""

import functools
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.forum import markup, moments
from warex_testbed.sites.forum.brands import Brand
from warex_testbed.sites.forum.drafts import MOST_TAGS, read_number
from warex_testbed.sites.forum.forum import Forum
from warex_testbed.sites.forum.listing import Search, cut, search, thread, topics
from warex_testbed.sites.forum.model import NOW, Post, Topic
from warex_testbed.web import page, templates

HERE = Path(__file__).parent
_RESULTS = 12


_TEMPLATES = templates(
    HERE,
    now=NOW,
    markup=markup.html,
    plain=markup.plain,
    ago=moments.ago,
    full=moments.full,
    most_tags=MOST_TAGS,
)


def _with(request: Request, **changed: object) -> str:
    """Return the request's address with other values in its query; None takes one away."""
    query = {key: value for key, value in request.query_params.items() if key != "done"}
    query |= {key: str(value) for key, value in changed.items()}
    remaining = {key: value for key, value in query.items() if value not in ("", "None")}
    return f"{request.url.path}?{urlencode(remaining)}" if remaining else request.url.path


class Views:
    """Makes the pages of one forum; it changes nothing."""

    def __init__(self, brand: Brand, forum: Forum) -> None:
        self._brand = brand
        self._forum = forum

    def render(self, template: str, request: Request, **values: Any) -> str:
        """Return a template's HTML."""
        brand, forum = self._brand, self._forum
        return _TEMPLATES.get_template(template).render(
            brand=brand,
            words=brand.words,
            url=brand.url,
            forum=forum,
            owner=forum.people[forum.owner],
            done=brand.words.get(f"done_{request.query_params.get('done', '')}"),
            unseen=0 if forum.notices_read else len(forum.notices),
            here=functools.partial(_with, request),
            label=self._label,
            **values,
        )

    def _page(
        self, template: str, request: Request, status: int = HTTPStatus.OK, **values: Any
    ) -> Response:
        return page(self.render(template, request, **values), status)

    def _label(self, verb: str, post: Post) -> str:
        """Say what a button does to which post: `Like reply by marlow`, `Like “Title”`."""
        topic = self._forum.topics[post.topic]
        if post.id == topic.post:
            return f"{verb} “{topic.title}”"
        return f"{verb} {self._brand.words['reply']} by {self._forum.people[post.author].name}"

    def missing(self, request: Request) -> Response:
        """Say that there is nothing here."""
        return self._page("missing.html", request, HTTPStatus.NOT_FOUND)

    def refused(self, request: Request, sentence: str) -> Response:
        """Say why something that was sent was not done."""
        return self._page(
            "refused.html", request, HTTPStatus.UNPROCESSABLE_ENTITY, sentence=sentence
        )

    # Topics

    def home(self, request: Request) -> Response:
        """Show what the brand opens with: its boards, or the newest topics."""
        return self._listing("home.html", request, heading=self._brand.words["home"])

    def latest(self, request: Request) -> Response:
        """List the topics of all boards."""
        return self._listing("listing.html", request, heading=self._brand.words["latest"])

    def board(self, request: Request, number: int) -> Response:
        """List the topics of one board."""
        board = self._forum.boards[number]
        return self._listing("listing.html", request, heading=board.name, board=board)

    def tagged(self, request: Request) -> Response:
        """List the topics of one tag."""
        tag = request.query_params.get("tag", "")
        if tag not in self._forum.tags():
            raise KeyError(tag)
        return self._listing("listing.html", request, heading=f"#{tag}", tag=tag)

    def _listing(
        self, template: str, request: Request, heading: str, board: Any = None, tag: Any = None
    ) -> Response:
        sort = request.query_params.get("sort", "")
        if sort not in self._brand.sorts:
            sort = next(iter(self._brand.sorts))
        listed = topics(self._forum, sort, board and board.id, tag)
        shown = cut(
            listed, read_number(request.query_params.get("page")) or 1, self._brand.topics_per_page
        )
        return self._page(
            template, request, heading=heading, board=board, tag=tag, sort=sort, shown=shown
        )

    def boards(self, request: Request) -> Response:
        """List the boards."""
        return self._page("boards.html", request)

    def tags(self, request: Request) -> Response:
        """List the tags."""
        return self._page("tags.html", request)

    def topic(
        self,
        request: Request,
        number: int,
        problems: Mapping[str, str] | None = None,
        typed: str = "",
    ) -> Response:
        """Show a topic with its replies, and the form for another."""
        topic = self._forum.topics[number]
        order = request.query_params.get("order", "")
        if order not in self._brand.orders:
            order = next(iter(self._brand.orders))
        branches = cut(
            thread(self._forum, topic, order),
            read_number(request.query_params.get("page")) or 1,
            self._brand.posts_per_page,
        )
        answered = self._forum.posts.get(read_number(request.query_params.get("to")) or 0)
        return self._page(
            "topic.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            topic=topic,
            opening=self._forum.opening(topic),
            order=order,
            branches=branches,
            answered=answered if answered and answered.topic == number else None,
            similar=self._similar(topic),
            problems=problems or {},
            typed=typed,
        )

    def _similar(self, topic: Topic) -> list[Topic]:
        others = topics(self._forum, "top", topic.board)
        return [other for other in others if other.id != topic.id][:4]

    def topic_form(
        self,
        request: Request,
        fields: Mapping[str, str],
        topic: Topic | None = None,
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        """Show the form of a new topic, or of one that is changed."""
        return self._page(
            "topic_form.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            fields=fields,
            topic=topic,
            problems=problems or {},
        )

    def post_form(
        self,
        request: Request,
        post: Post,
        text: str,
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        """Show the form in which a reply is changed."""
        return self._page(
            "post_form.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            post=post,
            topic=self._forum.topics[post.topic],
            text=text,
            problems=problems or {},
        )

    def search(self, request: Request) -> Response:
        """Show the search form and what it found."""
        query = request.query_params
        wanted = Search(
            words=query.get("q", ""),
            board=read_number(query.get("board")),
            author=query.get("author", ""),
            settled=query.get("settled", ""),
            sort="new" if query.get("sort") == "new" else "top",
        )
        results = [] if wanted.empty else search(self._forum, wanted)
        shown = cut(results, read_number(query.get("page")) or 1, _RESULTS)
        return self._page("search.html", request, wanted=wanted, shown=shown)

    # People and the owner's own

    def people(self, request: Request) -> Response:
        """List the members."""
        return self._page("people.html", request)

    def person(self, request: Request, number: int) -> Response:
        """Show a member."""
        person = self._forum.people[number]
        return self._page(
            "person.html",
            request,
            person=person,
            posts=self._forum.written_by(number),
            tab="about" if request.query_params.get("tab") == "about" else "posts",
        )

    def messages(self, request: Request) -> Response:
        """List the private messages, received or sent."""
        sent = request.query_params.get("box") == "sent"
        messages = [each for each in reversed(self._forum.messages) if each.sent == sent]
        return self._page("messages.html", request, messages=messages, sent=sent)

    def message(self, request: Request, number: int) -> Response:
        """Show one private message."""
        message = next((each for each in self._forum.messages if each.id == number), None)
        if message is None:
            raise KeyError(number)
        return self._page("message.html", request, message=message)

    def message_form(
        self,
        request: Request,
        number: int,
        fields: Mapping[str, str],
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        """Show the form of a private message to a member."""
        return self._page(
            "message_form.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            person=self._forum.people[number],
            fields={name: fields.get(name, "") for name in ("subject", "text")},
            problems=problems or {},
        )

    def notices(self, request: Request) -> Response:
        """List what happened to the owner."""
        return self._page("notices.html", request)

    def saved(self, request: Request) -> Response:
        """List what the owner keeps and watches."""
        return self._page("saved.html", request)

    def settings(
        self,
        request: Request,
        fields: Mapping[str, Any],
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        """Show the settings."""
        return self._page(
            "settings.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            fields=fields,
            problems=problems or {},
        )
