"""A save is refused, since somebody else has changed the same thing in the meantime."""

from collections.abc import Mapping
from posixpath import dirname
from typing import ClassVar, Final, Literal, override
from urllib.parse import urlsplit

from msgspec.structs import replace
from pydantic import Field, JsonValue

from warex.exchange import Exchange, Request, resource_of
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.faults.lies.base import json_reply
from warex.faults.pages import Incident, site_page
from warex.rewriting.base import ValueChange
from warex.seeds import KeyedRng

_STYLE: Final = """\
main{max-width:34em;margin:10vh auto 0}h1{font-size:26px}
p a{display:inline-block;padding:11px 26px;border-radius:$corner;background:$accent;\
color:$on_accent;text-decoration:none}
"""
_CONTENT: Final = """\
<h1>$title</h1><p role="alert">$sentence</p>
<p><a href="$form">$reload</a></p>"""
_ANY_PAGE: Final = ""
"""In place of the page with a form, if it is unknown."""


class WriteConflict(Fault, frozen=True):
    """Refuse a save, as optimistic locking does, until the client has loaded what it changes.

    Sources: RFC 9110, sections 15.5.10 (409) and 15.5.13 (412, for a request with ``If-Match``);
    RFC 6585, section 3 (lost updates). The site never sees a save that is refused.
    """

    summary: ClassVar = "Refuse a save: somebody else has changed this, load it again."
    shows_site: ClassVar = True
    default_methods: ClassVar = ("POST", "PUT", "PATCH")

    kind: Literal["write_conflict"] = "write_conflict"
    stage: Literal["request"] = "request"
    status: Literal[409, 412, 200] | None = Field(
        default=None,
        description="What the save is answered with; left out, 412 if it has If-Match, else 409.",
    )
    until: Literal["reload", "retry"] = Field(
        default="reload",
        description="Whether the save is refused until the page or the data is loaded again, or"
        " only once.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Refuse the save with a page in the site's look, or with JSON for a script."""
        request = exchange.request
        refused: dict[str, JsonValue] = {**_refused(state), _target(request): _form_of(request)}
        known: FaultState = {**state, "refused": refused}
        status = self.status or (412 if "if-match" in request.headers else 409)
        incident = Incident.at(exchange, status, rng)
        # It never reached the site.
        change = ValueChange("write", f"{request.method} {request.parts.path}", None)
        if resource_of(request) == "xhr":
            reply = json_reply(request, status, _problem(request, status, incident))
            return (replace(reply, changes=(change,)),), known
        page = site_page(
            incident,
            incident.say("conflict_title"),
            _STYLE,
            _CONTENT,
            sentence=incident.say("conflict_sentence"),
            reload=incident.say("conflict_reload"),
            form=_form_of(request) or "/",
        )
        return (replace(page.reply(status), changes=(change,)),), known

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether it is a save that was refused, and nothing was loaded since."""
        return self.until == "reload" and _target(exchange.request) in _refused(state)

    @override
    def observed(self, state: FaultState, exchange: Exchange) -> FaultState:
        """Forget the refused saves whose page or data is loaded again."""
        request, refused = exchange.request, _refused(state)
        if request.method != "GET" or not refused:
            return state
        left: dict[str, JsonValue] = {
            it: form for it, form in refused.items() if not _loads(request, it, form)
        }
        return state if len(left) == len(refused) else {**state, "refused": left}

    @property
    @override
    def never_ends(self) -> str:
        """What was loaded again is in conflict again."""
        return "who loads the page again meets another conflict, and nothing is ever saved"

    @override
    def outcome(self) -> str:
        status = f"{self.status}" if self.status else "409 (412 with If-Match)"
        then = "it is loaded again" if self.until == "reload" else "it is saved again"
        return (
            f"answered {status}: somebody else has changed it; the site never sees it, and the"
            f" same save is refused until {then}"
        )


def _refused(state: FaultState) -> Mapping[str, str]:
    """Return the refused saves, each with the path of the page that its form stood on."""
    refused = state.get("refused")
    return {it: str(form) for it, form in refused.items()} if isinstance(refused, dict) else {}


def _target(request: Request) -> str:
    """Return what a save writes to; of one address for all operations, the operation."""
    target = f"{request.parts.netloc}{request.parts.path}"
    is_shared = "graphql" in request.parts.path.lower()
    return f"{target}#{request.body_digest}" if is_shared else target


def _form_of(request: Request) -> str:
    """Return the path of the page of the same site that a save came from, if it is known."""
    try:
        page = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return _ANY_PAGE
    if page.netloc != request.parts.netloc or page.path in ("", "/"):
        return _ANY_PAGE
    return f"{page.path}?{page.query}" if page.query else page.path


def _loads(request: Request, target: str, form: str) -> bool:
    """Whether a request loads the page of a save's form, or the data that the save is about."""
    host, slash, path = target.partition("#")[0].partition("/")
    if host != request.parts.netloc:
        return False
    asked = request.parts.path or "/"
    if request.is_top_level:
        return not form or asked in (form.partition("?")[0], f"{slash}{path}")
    if request.resource not in ("xhr", "document"):
        return False
    place = f"{slash}{path}".rstrip("/")
    return asked.rstrip("/") in (place, dirname(place).rstrip("/")) or asked.startswith(f"{place}/")


def _problem(request: Request, status: int, incident: Incident) -> JsonValue:
    title, sentence = incident.say("conflict_title"), incident.say("conflict_sentence")
    if "graphql" in request.parts.path.lower():
        return {"errors": [{"message": sentence, "extensions": {"code": "CONFLICT"}}], "data": None}
    shapes: tuple[JsonValue, ...] = (
        {"error": sentence},
        {"error": {"code": "conflict", "message": sentence}},
        {"title": title, "status": status, "detail": sentence},
        {"success": False, "message": sentence},
    )
    # One API always uses the same shape.
    return incident.rng.choice(shapes, "shape", request.parts.netloc)
