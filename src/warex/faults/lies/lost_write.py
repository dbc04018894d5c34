"""A write is reported as saved but never sent to the site."""

from html import escape
from typing import ClassVar, Final, Literal, override
from urllib.parse import urlsplit

from pydantic import Field, JsonValue

from warex.effects import Reply
from warex.exchange import Exchange, Request, resource_of
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.faults.lies.base import json_reply
from warex.seeds import KeyedRng

_WORDINGS: Final = (
    ("Saved", "Your changes have been saved."),
    ("Done", "Everything was saved."),
    ("Thank you", "We have received your request."),
    ("Success", "Your request was completed."),
)
_LOOKS: Final = (
    "font:16px system-ui,sans-serif;color:#222;background:#fff",
    "font:17px Georgia,serif;color:#2b2b2b;background:#fbfaf7",
    "font:15px Verdana,sans-serif;color:#1b2559;background:#f5f7fb",
)


class LostWrite(Fault, frozen=True):
    """Answer a write as if the site had carried it out, without sending it to the site."""

    category: ClassVar = "lie"
    summary: ClassVar = "Confirm a write without sending it to the site."

    kind: Literal["lost_write"] = "lost_write"
    stage: Literal["request"] = "request"
    answer: Literal["saved", "back"] = Field(
        default="saved",
        description="What a form is answered with: a page that says saved, or the way back to the"
        " page that it stood on.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer a script with its own data, and a form with a page or a redirect back."""
        request = exchange.request
        if resource_of(request) == "xhr":
            made = int(rng.draw("id", request.url) * 90_000) + 10_000
            created = 201 if request.method == "POST" else 200
            reply: dict[str, JsonValue] = {"success": True}
            if created == 201:
                reply["id"] = made
            return (json_reply(request, created, reply, echoes=True),), state
        back = _page_before(request)
        headers = {"cache-control": "no-store"}
        if self.answer == "back" and back:
            return (Reply(303, {**headers, "location": back}),), state
        headers["content-type"] = "text/html; charset=utf-8"
        return (Reply(200, headers, _saved(back or "/", rng, request.parts.netloc)),), state

    @override
    def outcome(self) -> str:
        form = "a page that says saved" if self.answer == "saved" else "the page it stood on"
        return f"answered as if it had been carried out: a form with {form}, a script with JSON"


def _page_before(request: Request) -> str:
    """Return the page of the same site that held the form; empty if unknown."""
    try:
        before = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return ""
    if before.netloc != request.parts.netloc or before.scheme != request.parts.scheme:
        return ""
    return f"{before.path or '/'}{'?' + before.query if before.query else ''}"


def _saved(back: str, rng: KeyedRng, host: str) -> bytes:
    title, text = rng.choice(_WORDINGS, "words", host)
    look = rng.choice(_LOOKS, "look", host)
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f'<body style="{look};margin:0">'
        '<main style="max-width:560px;margin:12vh auto;padding:0 24px">'
        f'<h1>{title}</h1><p role="status">{text}</p><p><a href="{escape(back)}">Back</a></p>'
        "</main></body></html>"
    )
    return page.encode("utf-8", "replace")
