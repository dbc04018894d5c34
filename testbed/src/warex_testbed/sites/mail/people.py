"""The address book: its list, an entry's page, and the form for entries."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.mail.base_view import BaseView, done
from warex_testbed.sites.mail.forms import Problems, read_contact
from warex_testbed.sites.mail.model import Contact
from warex_testbed.sites.mail.rows import rows
from warex_testbed.web import form, route


class People:
    """The pages of the contacts."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        self.routes = (
            route("GET", "/contacts", self._all),
            route("GET", "/contacts/new", self._new),
            route("POST", "/contacts", self._create),
            route("GET", "/contacts/{id:int}", self._one),
            route("GET", "/contacts/{id:int}/edit", self._edit),
            route("POST", "/contacts/{id:int}", self._update),
            route("POST", "/contacts/{id:int}/delete", self._delete),
        )

    def _all(self, request: Request) -> Response:
        words = request.query_params.get("name", "").lower()
        people = [
            contact
            for contact in sorted(self._view.mailbox.contacts.values(), key=lambda each: each.name)
            if words in f"{contact.name} {contact.email} {contact.company}".lower()
        ]
        heading = self._view.brand.words["contacts"]
        return self._view.page(
            "contacts.html", request, heading=heading, place="contacts", people=people, words=words
        )

    def _one(self, request: Request, number: int) -> Response:
        contact, box = self._view.mailbox.contacts[number], self._view.mailbox
        recent = [
            message
            for message in box.messages.values()
            if message.folder not in ("bin", "spam")
            and contact.email in (message.sender.email, *(person.email for person in message.to))
        ]
        return self._view.page(
            "contact.html",
            request,
            heading=contact.name,
            place="contacts",
            contact=contact,
            recent=rows(box, recent)[:5],
        )

    def _form(
        self,
        request: Request,
        fields: Mapping[str, str],
        contact: Contact | None = None,
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        words = self._view.brand.words
        return self._view.page(
            "contact-form.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            heading=words["edit_contact"] if contact else words["new_contact"],
            place="contacts",
            fields=fields,
            contact=contact,
            problems=problems or {},
        )

    def _new(self, request: Request) -> Response:
        return self._form(request, request.query_params)

    def _create(self, request: Request) -> Response:
        fields, box = form(request), self._view.mailbox
        try:
            contact = box.keep_contact(read_contact(fields, box))
        except Problems as problems:
            return self._form(request, fields, problems=problems.sentences)
        return done(f"/contacts/{contact.id}", "contact")

    def _edit(self, request: Request, number: int) -> Response:
        contact = self._view.mailbox.contacts[number]
        fields = {
            "name": contact.name,
            "email": contact.email,
            "phone": contact.phone,
            "company": contact.company,
            "notes": contact.notes,
        }
        return self._form(request, fields, contact)

    def _update(self, request: Request, number: int) -> Response:
        fields, box = form(request), self._view.mailbox
        contact = box.contacts[number]
        try:
            box.keep_contact(read_contact(fields, box, number))
        except Problems as problems:
            return self._form(request, fields, contact, problems.sentences)
        return done(f"/contacts/{number}", "contact")

    def _delete(self, request: Request, number: int) -> Response:
        del self._view.mailbox.contacts[number]
        return done("/contacts", "contact_gone")
