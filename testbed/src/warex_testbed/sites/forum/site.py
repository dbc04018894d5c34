"""The forum's addresses: pages by GET, writes by POST, each write also for the scripts as JSON."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from warex_testbed.sites.forum import markup
from warex_testbed.sites.forum.brands import Brand
from warex_testbed.sites.forum.drafts import (
    LONGEST_TEXT,
    read_message,
    read_number,
    read_report,
    read_settings,
    read_switch,
    read_text,
    read_topic,
    read_vote,
)
from warex_testbed.sites.forum.listing import thread
from warex_testbed.sites.forum.model import Post, Problems
from warex_testbed.sites.forum.seed import fresh
from warex_testbed.sites.forum.views import HERE, Views
from warex_testbed.web import application, as_json, form, json_fields, route, see_other

type Fields = Mapping[str, Any]
type Write = Callable[[Fields, int], str]
"""Does what the fields ask of the thing of that number; returns where the browser goes next."""


class ForumSite:
    """One fresh forum of a brand; requests are answered one at a time."""

    def __init__(self, brand: Brand) -> None:
        self._brand = brand
        self._forum = fresh(brand.slug)
        self._views = Views(brand, self._forum)
        routes = (*self._pages(), *self._writes())
        self.app = application(routes, self._views.missing, HERE)

    def _pages(self) -> tuple[Route, ...]:
        views, url = self._views, self._brand.url
        return (
            route("GET", "/", views.home),
            route("GET", "/latest", views.latest),
            route("GET", "/boards", views.boards),
            route("GET", url("board") + "/{id:int}", views.board),
            route("GET", "/tags", views.tags),
            route("GET", "/tagged", views.tagged),
            route("GET", "/search", views.search),
            route("GET", url("new"), self._new),
            route("POST", url("new"), self._create),
            route("GET", url("topic") + "/{id:int}", views.topic),
            route("GET", "/posts/{id:int}/edit", self._edit),
            route("POST", "/posts/{id:int}/edit", self._change),
            route("GET", "/people", views.people),
            route("GET", url("person") + "/{id:int}", views.person),
            route("GET", "/messages", views.messages),
            route("GET", "/messages/{id:int}", views.message),
            route("GET", "/write/{id:int}", self._compose),
            route("GET", "/notifications", views.notices),
            route("GET", "/saved", views.saved),
            route("GET", "/settings", self._settings),
            route("POST", "/settings", self._configure),
            route("POST", "/api/preview", self._preview),
        )

    def _writes(self) -> tuple[Route, ...]:
        writes: Mapping[str, Write] = {
            "/topics/{id:int}/reply": self._reply,
            "/topics/{id:int}/watch": self._watch,
            "/topics/{id:int}/poll": self._choose,
            "/boards/{id:int}/join": self._join,
            "/posts/{id:int}/vote": self._vote,
            "/posts/{id:int}/save": self._save,
            "/posts/{id:int}/accept": self._accept,
            "/posts/{id:int}/report": self._report,
            "/posts/{id:int}/delete": self._delete,
            "/people/{id:int}/follow": self._follow,
            "/people/{id:int}/messages": self._send,
            "/notifications/{id:int}/read": self._read,
        }
        return (
            *(
                route("POST", path, functools.partial(self._by_form, write))
                for path, write in writes.items()
            ),
            *(
                route("POST", f"/api{path}", functools.partial(self._by_script, write))
                for path, write in writes.items()
            ),
        )

    def state(self) -> dict[str, Any]:
        """Return all of it; the keys are described in the reference."""
        return self._forum.as_json()

    # How a write is asked for

    def _by_form(self, write: Write, request: Request, number: int) -> Response:
        fields = form(request)
        try:
            return see_other(write(fields, number))
        except Problems as problems:
            if write == self._reply:
                return self._views.topic(
                    request, number, problems.sentences, str(fields.get("text", ""))
                )
            if write == self._send:
                return self._views.message_form(request, number, fields, problems.sentences)
            return self._views.refused(request, str(problems))

    def _by_script(self, write: Write, request: Request, number: int) -> Response:
        """Answer with the `location` to go to, and for a vote with its new `html` to show."""
        try:
            location = write(json_fields(request), number)
        except Problems as problems:
            return as_json({"error": str(problems)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        answer = {"location": location}
        if write == self._vote:
            post = self._forum.posts[number]
            answer["html"] = self._views.render("votes.html", request, post=post)
        return as_json(answer)

    def _at(self, post: Post, done: str) -> str:
        """Return the address of a post on the page of its topic where it stands."""
        topic = self._forum.topics[post.topic]
        order = next(iter(self._brand.orders))
        places = [branch.post.id for branch in thread(self._forum, topic, order)]
        before = places.index(post.id) if post.id in places else 0
        page = 1 + before // self._brand.posts_per_page
        part = f"page={page}&" if page > 1 else ""
        return f"{self._brand.url('topic', topic.id)}?{part}done={done}#post-{post.id}"

    # The writes that a page's buttons and small forms ask for

    def _reply(self, fields: Fields, number: int) -> str:
        parent = read_number(fields.get("parent", ""))
        return self._at(self._forum.reply(number, read_text(fields), parent), "reply")

    def _watch(self, fields: Fields, number: int) -> str:
        on = read_switch(fields)
        topic = self._forum.watch(number, on)
        return f"{self._brand.url('topic', topic.id)}?done={'watch' if on else 'unwatch'}"

    def _choose(self, fields: Fields, number: int) -> str:
        option = read_number(fields.get("option", ""))
        if option is None:
            raise Problems({"option": "Choose one of the options."})
        topic = self._forum.choose(number, option)
        return f"{self._brand.url('topic', topic.id)}?done=poll"

    def _join(self, fields: Fields, number: int) -> str:
        on = read_switch(fields)
        board = self._forum.join(number, on)
        return f"{self._brand.url('board', board.id)}?done={'join' if on else 'leave'}"

    def _vote(self, fields: Fields, number: int) -> str:
        return self._at(self._forum.vote(number, read_vote(fields)), "vote")

    def _save(self, fields: Fields, number: int) -> str:
        on = read_switch(fields)
        return self._at(self._forum.save(number, on), "save" if on else "unsave")

    def _accept(self, fields: Fields, number: int) -> str:
        topic = self._forum.accept(number)
        return f"{self._brand.url('topic', topic.id)}?done=accept#post-{number}"

    def _report(self, fields: Fields, number: int) -> str:
        reason, details = read_report(fields, self._brand.reasons)
        return self._at(self._forum.report(number, reason, details), "report")

    def _delete(self, fields: Fields, number: int) -> str:
        topic = self._forum.delete(number)
        where = "/latest" if topic is None else self._brand.url("topic", topic.id)
        return f"{where}?done=delete"

    def _follow(self, fields: Fields, number: int) -> str:
        on = read_switch(fields)
        person = self._forum.follow(number, on)
        return f"{self._brand.url('person', person.id)}?done={'follow' if on else 'unfollow'}"

    def _send(self, fields: Fields, number: int) -> str:
        message = self._forum.send(number, *read_message(fields))
        return f"/messages/{message.id}?done=message"

    def _read(self, fields: Fields, number: int) -> str:
        self._forum.read_notices()
        return "/notifications?done=read"

    # The larger forms, which are pages of their own

    def _new(self, request: Request) -> Response:
        return self._views.topic_form(request, _known(request.query_params))

    def _create(self, request: Request) -> Response:
        fields = form(request)
        try:
            draft = read_topic(fields, self._forum.boards)
        except Problems as problems:
            return self._views.topic_form(request, _known(fields), problems=problems.sentences)
        topic = self._forum.add_topic(draft.title, draft.board, draft.tags, draft.text)
        return see_other(f"{self._brand.url('topic', topic.id)}?done=topic")

    def _edit(self, request: Request, number: int) -> Response:
        post = self._forum.posts[number]
        topic = self._forum.topics[post.topic]
        if not self._forum.is_mine(post):
            return self._views.refused(request, "Only who wrote it may change it.")
        if post.id != topic.post:
            return self._views.post_form(request, post, post.text)
        fields = {
            "title": topic.title,
            "board": str(topic.board),
            "tags": ", ".join(topic.tags),
            "text": post.text,
        }
        return self._views.topic_form(request, fields, topic)

    def _change(self, request: Request, number: int) -> Response:
        fields, post = form(request), self._forum.posts[number]
        topic = self._forum.topics[post.topic]
        opening = post.id == topic.post
        try:
            if opening:
                draft = read_topic(fields, self._forum.boards)
                self._forum.edit(number, draft.text)
                self._forum.retitle(topic.id, draft.title, draft.board, draft.tags)
            else:
                self._forum.edit(number, read_text(fields))
        except Problems as problems:
            if "all" in problems.sentences:
                return self._views.refused(request, str(problems))
            if opening:
                return self._views.topic_form(request, _known(fields), topic, problems.sentences)
            return self._views.post_form(request, post, fields.get("text", ""), problems.sentences)
        return see_other(self._at(post, "edit"))

    def _compose(self, request: Request, number: int) -> Response:
        return self._views.message_form(request, number, {})

    def _settings(self, request: Request) -> Response:
        return self._views.settings(request, asdict(self._forum.settings))

    def _configure(self, request: Request) -> Response:
        fields = form(request)
        try:
            self._forum.configure(read_settings(fields, self._brand.digests))
        except Problems as problems:
            known = {"digest": "", "place": "", "about": ""} | fields
            boxes = {name: name in fields for name in ("reply_mail", "message_mail")}
            return self._views.settings(request, known | boxes, problems.sentences)
        return see_other("/settings?done=settings")

    def _preview(self, request: Request) -> Response:
        text = str(json_fields(request).get("text", ""))[:LONGEST_TEXT]
        return as_json({"html": str(markup.html(text))})


def _known(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: fields.get(name, "") for name in ("title", "board", "tags", "text")}
