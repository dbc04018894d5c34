"""An error status with a server's error page (paper §3.2)."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, override

from pydantic import Field, ValidationInfo, field_validator

from warex.exchange import Exchange, Request, resource_of
from warex.faults.base import EffectsAndState, ErrorStatus, FaultState, HeldFault, Seconds
from warex.faults.pages import Incident, Page, ServerPage, render
from warex.seeds import KeyedRng

USUAL_WAIT = 5
"""The default of Retry-After, in seconds."""

_WAIT_IS_USUAL = (429, 503)
# RFC 9110 §10.2.3 and §15.5.14, RFC 6585 §4; 408 invites the client to repeat (§15.5.9).
_WAIT_HAS_MEANING = (408, 413, 429, 503)


def _usual_wait(values: dict[str, Any]) -> int | None:
    return USUAL_WAIT if values.get("status") in _WAIT_IS_USUAL else None


class HttpError(HeldFault, frozen=True):
    """Answer with an error status and a server's error page."""

    summary: ClassVar = "Answer with an error status (400-599) and a server's error page."

    shows_site: ClassVar = True

    kind: Literal["http_error"] = "http_error"
    status: ErrorStatus = Field(default=500, description="The error status.")
    retry_after: Annotated[int, Field(ge=0, le=86_400, strict=True)] | None = Field(
        default_factory=_usual_wait,
        description="Seconds of the Retry-After header; null for no such header. Left out: 5 with"
        " status 429 or 503, no header with any other.",
    )
    body: Annotated[str, Field(min_length=1, max_length=1_000_000)] | None = Field(
        default=None, description="The answer's own text or HTML, in place of a page."
    )
    page: ServerPage | None = Field(
        default=None, description="The family of error pages; left out, each host has its own."
    )
    delay: Seconds = Field(default=0.0, description="How long the answer is held, in seconds.")

    @field_validator("retry_after")
    @classmethod
    def _belongs(cls, seconds: int | None, info: ValidationInfo) -> int | None:
        status = info.data.get("status")
        if seconds is not None and status is not None and status not in _WAIT_HAS_MEANING:
            allowed = ", ".join(map(str, _WAIT_HAS_MEANING))
            raise ValueError(
                f"retry_after means nothing with status {status}; it goes with {allowed}"
            )
        return seconds

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the status, after the delay if there is one."""
        page = self._page(exchange, rng)
        headers = _required(self.status, exchange.request.method)
        if self.retry_after is not None:
            headers["retry-after"] = str(self.retry_after)
        return (*self.hold_effects, page.reply(self.status, headers)), state

    @override
    def outcome(self) -> str:
        if self.body is not None:
            page = "a body of its own"
        elif self.page is not None:
            page = f"a server's error page (family {self.page})"
        else:
            page = "a server's error page (a family chosen by seed)"
        wait = "" if self.retry_after is None else f" and Retry-After: {self.retry_after}"
        return f"answered {self.status} with {page}{wait}"

    def _page(self, exchange: Exchange, rng: KeyedRng) -> Page:
        if self.body is not None:
            subtype = "html" if self.body.lstrip().startswith("<") else "plain"
            return Page(f"text/{subtype}; charset=utf-8", self.body.encode())
        family = self.page or ("api" if _wants_json(exchange.request) else None)
        return render("server", Incident.at(exchange, self.status, rng), family)


def _required(status: int, method: str) -> dict[str, str]:
    """Return the headers that RFC 9110 requires with the status.

    The scheme is Bearer, for which no browser asks for a password.
    """
    challenge: Mapping[int, str] = {401: "www-authenticate", 407: "proxy-authenticate"}
    if status in challenge:
        return {challenge[status]: "Bearer"}
    if status == 405:
        return {"allow": "POST" if method in ("GET", "HEAD") else "GET, HEAD"}
    return {}


def _wants_json(request: Request) -> bool:
    """Whether a program asks and accepts JSON rather than HTML."""
    if resource_of(request) == "document":
        return False
    accepted = (
        part.partition(";")[0].strip() for part in request.headers.get("accept", "").split(",")
    )
    for media_type in accepted:
        if media_type == "text/html":
            return False
        if media_type == "application/json" or media_type.endswith("+json"):
            return True
    return False
