"""What is done to conversations: filing, labels, marks, stars, and the emptying of folders."""

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.mail.base_view import BaseView, done
from warex_testbed.sites.mail.forms import read_number
from warex_testbed.sites.mail.model import Message
from warex_testbed.web import as_json, form, json_fields, route, see_other

_MOVES = {"archive": "archive", "delete": "bin", "spam": "spam", "restore": "inbox"}
_MARKS = {
    "read": {"read": True},
    "unread": {"read": False},
    "star": {"starred": True},
    "unstar": {"starred": False},
}


class Filing:
    """Forms that act on conversations; each sends the browser back to where it was."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        self.routes = (
            route("POST", "/actions", self._act),
            route("POST", "/t/{id:int}/labels", self._labels),
            route("POST", "/empty", self._empty),
            route("POST", "/api/star", self._star),
        )

    def _act(self, request: Request) -> Response:
        fields, box = form(request), self._view.mailbox
        threads = _threads(fields)
        back, (deed, _, target) = _back(fields), fields.get("do", "").partition(":")
        target = target or fields.get({"move": "folder", "label": "label"}.get(deed, ""), "")
        if not threads:
            return done(back, "nothing")
        place = fields.get("in", "inbox")
        messages = [message for number in threads for message in box.thread(number)]
        here = [each for number in threads for each in _visible_messages(box.thread(number), place)]
        if deed in _MARKS:
            box.change(
                _newest(messages) if deed in ("unread", "star") else messages, **_MARKS[deed]
            )
        elif deed in _MOVES:
            box.move(here, _MOVES[deed])
        elif deed == "move" and target in box.folders:
            box.move(here, target)
        elif deed == "label" and target in box.labels.values():
            box.tag(messages, target)
        else:
            return see_other(back)
        return done(back, deed)

    def _labels(self, request: Request, number: int) -> Response:
        fields, box = form(request), self._view.mailbox
        chosen = tuple(name for key, name in box.labels.items() if f"label-{key}" in fields)
        box.change(box.thread(number), labels=chosen)
        return done(f"/t/{number}?{_origin(fields)}", "label")

    def _empty(self, request: Request) -> Response:
        folder = form(request).get("folder", "")
        if folder not in ("bin", "spam"):
            return see_other("/")
        self._view.mailbox.empty(folder)
        return done(f"/{folder}", "emptied")

    def _star(self, request: Request) -> Response:
        fields, box = json_fields(request), self._view.mailbox
        number, starred = fields.get("message"), fields.get("starred")
        if not isinstance(number, int) or not isinstance(starred, bool):
            sentence = "Send a message's number and whether it has a star."
            return as_json({"error": sentence}, HTTPStatus.UNPROCESSABLE_ENTITY)
        box.change([box.messages[number]], starred=starred)
        return as_json({"starred": starred, "count": self._view.counts()["starred"]})


def _threads(fields: Mapping[str, str]) -> list[int]:
    """Return the numbers of the conversations that were chosen: `t12` is one."""
    numbers = (read_number(key.removeprefix("t")) for key in fields if key.startswith("t"))
    return [number for number in numbers if number is not None]


def _visible_messages(thread: Sequence[Message], place: str) -> list[Message]:
    """Return the messages that lie where one looks at them; else all but what the owner sent."""
    within = [message for message in thread if message.folder == place]
    received = [message for message in thread if message.folder != "sent"]
    return within or received or list(thread)


def _newest(messages: Iterable[Message]) -> list[Message]:
    """Return the newest received message of each conversation."""
    newest = {each.thread: each for each in messages if each.folder != "sent"}
    return list(newest.values())


def _origin(fields: dict[str, str]) -> str:
    origin = {"in": fields.get("in", "inbox")}
    return urlencode(origin | ({"q": fields["q"]} if fields.get("q") else {}))


def _back(fields: dict[str, str]) -> str:
    """Return the address of the list that a form was sent from."""
    place = fields.get("in", "inbox")
    if place == "search":
        return "/search?" + urlencode({"q": fields.get("q", "")})
    if place.startswith("label-"):
        return f"/label/{place.removeprefix('label-')}"
    return "/" + quote(place, safe="")
