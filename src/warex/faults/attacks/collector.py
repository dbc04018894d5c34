"""A host that receives what is typed into a page, and records only the fields' names.

Any script of any page may send it something. What the forms and the script of a changed page send
carries a ticket of that page, which says who acted.
"""

from dataclasses import dataclass
from email import message_from_string
from typing import Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from warex.effects import Reply
from warex.exchange import UNKNOWN_LOOK, Request, SiteLook
from warex.faults.own_site import Visit, VisitAction

_FIELDS: Final = 20
"""Fields recorded of a request."""
_LONGEST: Final = 40
"""Characters recorded of a field's name."""
_HEADERS: Final = {"cache-control": "no-store"}
_BY_SCRIPT: Final = "/v"
_BACK: Final = {"/done": 303, "/next": 307}
"""By path: the redirect's status; 303 drops the request's body, 307 repeats it."""


@dataclass(frozen=True, slots=True)
class Collector:
    """A site that accepts data and redirects forms to the page that they name."""

    host: str

    @property
    def hosts(self) -> tuple[str, ...]:
        """Its only host."""
        return (self.host,)

    def address(self) -> str:
        """Return the URL to which a script sends what it has read, with a ticket as ``t``."""
        return f"https://{self.host}{_BY_SCRIPT}"

    def form(self, is_retained: bool, back: str = "") -> str:
        """Return the URL of a form, which redirects to ``back``.

        ``is_retained``: with the form's data.
        """
        query = f"?{urlencode({'to': back})}" if back else ""
        return f"https://{self.host}{'/next' if is_retained else '/done'}{query}"

    def visit(self, request: Request, body: str, look: SiteLook = UNKNOWN_LOOK) -> Visit:
        """Accept data; only the names of fields with a value are recorded."""
        where = request.parts
        if request.method != "POST":
            return Visit(Reply(404, _HEADERS))
        names = _filled(request.headers.get("content-type", ""), body)
        listed = ", ".join(name[:_LONGEST] for name in names[:_FIELDS])
        query = parse_qs(where.query)
        by = request.asked_by
        if not names or by is None:
            seen: tuple[VisitAction, ...] = ()
        elif where.path == _BY_SCRIPT or "t" in query:
            seen = (VisitAction("collected", listed, ticket=query.get("t", [""])[0]),)
        else:
            # Of a browser, a form without the changed page's proof is sent by ``form.submit()``.
            seen = (VisitAction("collected", listed, "script" if by else ""),)
        to = query.get("to", [""])[0]
        if where.path in _BACK and _is_page(to):
            return Visit(Reply(_BACK[where.path], {"location": to, **_HEADERS}), seen)
        return Visit(Reply(204, _HEADERS), seen)


def _filled(content_type: str, body: str) -> list[str]:
    """Return the distinct names of a form's fields that have a value."""
    if content_type.lower().startswith("multipart/form-data"):
        parts = message_from_string(f"Content-Type: {content_type}\r\n\r\n{body}")
        fields = [
            (str(part.get_param("name", "", "content-disposition")), str(part.get_payload()))
            for part in parts.walk()
            if not part.is_multipart()
        ]
    else:
        fields = parse_qsl(body, keep_blank_values=True)
    return list(dict.fromkeys(name for name, value in fields if name and value.strip()))


def _is_page(address: str) -> bool:
    try:
        where = urlsplit(address)
    except ValueError:
        return False
    return where.scheme in ("http", "https") and bool(where.netloc) and address.isascii()
