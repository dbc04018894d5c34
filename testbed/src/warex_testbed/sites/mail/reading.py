"""Folders, labels, search, conversations and attachments: everything that is only looked at."""

import functools
from collections.abc import Iterable
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.mail import query
from warex_testbed.sites.mail.base_view import BaseView
from warex_testbed.sites.mail.forms import read_number
from warex_testbed.sites.mail.model import Message
from warex_testbed.sites.mail.rows import Row, rows
from warex_testbed.web import route, see_other


class Reading:
    """The pages for reading; opening a conversation marks it as read."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        self.routes = (
            route("GET", "/", functools.partial(self._folder, folder="inbox")),
            *(
                route("GET", f"/{folder}", functools.partial(self._folder, folder=folder))
                for folder in view.brand.folders
                if folder != "drafts"
            ),
            route("GET", "/drafts", self._drafts),
            route("GET", "/label/{id:int}", self._label),
            route("GET", "/search", self._search),
            route("GET", "/search/options", self._options),
            route("GET", "/search/run", self._run),
            route("GET", "/t/{id:int}", self._thread),
            route("GET", "/t/{id:int}/pane", self._pane),
            route("GET", "/attachment/{id:int}/{index:int}", self._attachment),
        )

    def _folder(self, request: Request, folder: str) -> Response:
        return self._list(request, folder, self._view.brand.folders[folder])

    def _label(self, request: Request, number: int) -> Response:
        return self._list(request, f"label-{number}", self._view.mailbox.labels[number])

    def _search(self, request: Request) -> Response:
        return self._list(request, "search", self._view.brand.words["results"])

    def _list(self, request: Request, place: str, heading: str) -> Response:
        listed = self._rows(request, place)
        size = self._view.brand.per_page
        last = max(1, -(-len(listed) // size))
        number = min(read_number(request.query_params.get("page", "")) or 1, last)
        return self._view.page(
            "list.html",
            request,
            heading=heading,
            place=place,
            rows=listed[(number - 1) * size : number * size],
            total=len(listed),
            number=number,
            last=last,
            first=(number - 1) * size + 1,
            opened=None,
        )

    def _rows(self, request: Request, place: str) -> list[Row]:
        return rows(self._view.mailbox, self._within(place, request.query_params.get("q", "")))

    def _within(self, place: str, line: str) -> Iterable[Message]:
        box = self._view.mailbox
        if place == "search":
            return query.search(box, line)
        if place == "starred":
            return (each for each in box.messages.values() if each.starred and each.folder != "bin")
        if place.startswith("label-"):
            label = box.labels.get(int(place.removeprefix("label-")))
            return (
                each
                for each in box.messages.values()
                if label in each.labels and each.folder not in ("bin", "spam")
            )
        return box.within(place)

    def _drafts(self, request: Request) -> Response:
        drafts = sorted(self._view.mailbox.drafts.values(), key=lambda each: each.id, reverse=True)
        heading = self._view.brand.folders["drafts"]
        return self._view.page(
            "drafts.html", request, heading=heading, place="drafts", drafts=drafts
        )

    def _options(self, request: Request) -> Response:
        piece = "piece" in request.query_params
        template = "options-piece.html" if piece else "options.html"
        return self._view.page(template, request, heading=self._view.brand.words["options"])

    def _run(self, request: Request) -> Response:
        return see_other("/search?" + urlencode({"q": query.compose(request.query_params)}))

    # One conversation

    def _thread(self, request: Request, number: int) -> Response:
        return self._opened(request, number, "thread.html")

    def _pane(self, request: Request, number: int) -> Response:
        return self._opened(request, number, "thread-piece.html")

    def _opened(self, request: Request, number: int, template: str) -> Response:
        box = self._view.mailbox
        box.change([each for each in box.thread(number) if not each.read], read=True)
        messages = box.thread(number)
        place = self._place(request)
        wanted = request.query_params.get("open", "")
        shown = {messages[-1].id} | {each.id for each in messages if wanted == str(each.id)}
        listed = self._rows(request, place) if template == "thread.html" else []
        labels = dict.fromkeys(label for each in messages for label in each.labels)
        return self._view.page(
            template,
            request,
            heading=messages[0].subject or self._view.brand.words["no_subject"],
            place=place,
            rows=listed,
            total=len(listed),
            messages=messages,
            shown={each.id for each in messages} if wanted == "all" else shown,
            labels=tuple(labels),
            opened=number,
        )

    def _place(self, request: Request) -> str:
        """Return the list from which a conversation was opened; the inbox where it is unknown."""
        place = request.query_params.get("in", "inbox")
        if place.startswith("label-"):
            label = read_number(place.removeprefix("label-"))
            return place if label in self._view.mailbox.labels else "inbox"
        known = place == "search" or (place in self._view.brand.folders and place != "drafts")
        return place if known else "inbox"

    def _attachment(self, request: Request, number: int, index: int) -> Response:
        message = self._view.mailbox.messages[number]
        if index >= len(message.attachments):
            raise KeyError(index)
        file = message.attachments[index]
        return self._view.page(
            "attachment.html", request, heading=file.name, message=message, file=file
        )
