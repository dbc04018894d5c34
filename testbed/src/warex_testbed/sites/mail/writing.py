"""Letters: new ones, answers, forwards, drafts. What is posted twice is sent twice, and shows."""

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.mail.base_view import BaseView, done
from warex_testbed.sites.mail.forms import Problems, read_draft, read_letter, read_number
from warex_testbed.sites.mail.model import Draft, Message, Person
from warex_testbed.web import as_json, form, json_fields, route, see_other


class Writing:
    """The form for letters, as a page, as the content of a dialog, and as the API behind it."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        self.routes = (
            route("GET", "/compose", self._compose),
            route("GET", "/compose/pane", self._pane),
            route("POST", "/compose", self._send),
            route("POST", "/api/messages", self._api_send),
            route("POST", "/api/drafts", self._api_draft),
        )

    def _compose(self, request: Request) -> Response:
        return self._form(request, "compose.html", self._begun(request), {})

    def _pane(self, request: Request) -> Response:
        return self._form(request, "compose-piece.html", self._begun(request), {})

    def _form(
        self, request: Request, template: str, draft: Draft, problems: Mapping[str, str]
    ) -> Response:
        box = self._view.mailbox
        words = self._view.brand.words
        title = words["compose"]
        if draft.reply_to:
            title = words["reply"]
        elif draft.forwards:
            title = words["forward"]
        return self._view.page(
            template,
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            heading=title,
            draft=draft,
            quoted=box.messages.get(draft.reply_to or draft.forwards or 0),
            problems=problems,
        )

    def _begun(self, request: Request) -> Draft:
        """Return what the form begins with; raises KeyError for a number that is unknown."""
        box, wanted = self._view.mailbox, request.query_params
        if "draft" in wanted:
            return box.drafts[_known(wanted["draft"])]
        if "forward" in wanted:
            return forward(box.messages[_known(wanted["forward"])])
        if "reply" in wanted:
            return answer(box.messages[_known(wanted["reply"])], box.owner, "all" in wanted)
        return Draft(0, to=wanted.get("to", ""))

    def _send(self, request: Request) -> Response:
        fields, box = form(request), self._view.mailbox
        if fields.get("do") == "draft":
            box.keep_draft(read_draft(fields))
            return done("/drafts", "drafted")
        if fields.get("do") == "discard":
            box.drafts.pop(read_draft(fields).id, None)
            return see_other("/drafts")
        try:
            letter = read_letter(fields, box)
        except Problems as problems:
            return self._form(request, "compose.html", read_draft(fields), problems.sentences)
        sent = self._sent(letter, fields)
        if sent.reply_to is not None:
            return done(f"/t/{sent.thread}", "sent")
        return done("/sent", "sent")

    def _sent(self, letter: Message, fields: Mapping[str, Any]) -> Message:
        self._view.mailbox.drafts.pop(read_draft(fields).id, None)
        return self._view.mailbox.send(letter)

    # What the script of the dialog calls; the reply's `location` is where the browser goes next

    def _api_send(self, request: Request) -> Response:
        fields = json_fields(request)
        try:
            letter = read_letter(fields, self._view.mailbox)
        except Problems as problems:
            sentence, confirm = str(problems), "no_subject" in problems.sentences
            return as_json({"error": sentence, "confirm": confirm}, HTTPStatus.UNPROCESSABLE_ENTITY)
        sent = self._sent(letter, fields)
        where = f"/t/{sent.thread}?in=inbox&" if sent.reply_to is not None else "/sent?"
        return as_json({"id": sent.id, "location": f"{where}done=sent"}, HTTPStatus.CREATED)

    def _api_draft(self, request: Request) -> Response:
        draft = self._view.mailbox.keep_draft(read_draft(json_fields(request)))
        return as_json({"id": draft.id, "location": "/drafts?done=drafted"}, HTTPStatus.CREATED)


def _known(text: str) -> int:
    number = read_number(text)
    if number is None:
        raise KeyError(text)
    return number


def answer(message: Message, owner: Person, everyone: bool) -> Draft:
    """Return the beginning of an answer: to the sender, with `everyone` to all the others too."""
    mine = message.sender.email == owner.email
    to = message.to if mine else (message.sender,)
    others = (*message.to, *message.cc) if everyone else ()
    known = {owner.email, *(person.email for person in to)}
    cc = [person for person in others if person.email not in known]
    return Draft(
        id=0,
        to=_line(*to),
        cc=_line(*cc),
        subject=_prefixed("Re", message.subject),
        reply_to=message.id,
    )


def forward(message: Message) -> Draft:
    """Return the beginning of a forward; the attachments go along when it is sent."""
    return replace(Draft(0), subject=_prefixed("Fwd", message.subject), forwards=message.id)


def _prefixed(prefix: str, subject: str) -> str:
    return subject if subject.lower().startswith(f"{prefix.lower()}:") else f"{prefix}: {subject}"


def _line(*people: Person) -> str:
    return ", ".join(person.email for person in people)
