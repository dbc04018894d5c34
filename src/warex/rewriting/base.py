"""Edits of a site's response: chosen by its head, applied while its body streams."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from warex.exchange import Request, Response

_LONGEST: Final = 300
"""Characters of a value that are reported."""
XHTML: Final = "application/xhtml+xml"
HTML_TYPES: Final = ("text/html", XHTML)


def media_type(response: Response) -> str:
    """Return a response's media type in lower case, without its parameters."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def has_body(request: Request, response: Response, *, complete: bool = True) -> bool:
    """Whether a response has a body, and with ``complete`` all of it (no 206)."""
    empty = request.method == "HEAD" or response.status in (204, 205, 304)
    return not empty and not (complete and response.status == 206)


class ValueChange(Struct, frozen=True):
    """One changed value: its place, and both values as text."""

    where: str
    before: str
    after: str | None
    """None if the value was removed."""

    def short(self) -> "ValueChange":
        """Return a copy with long values cut off."""
        after = self.after and self.after[:_LONGEST]
        return ValueChange(self.where[:_LONGEST], self.before[:_LONGEST], after)


class Rewriter(Protocol):
    """Changes one decoded body as it streams."""

    @property
    def applied(self) -> bool:
        """Whether there was something to change."""
        return bool(self.changes)

    @property
    def changes(self) -> Sequence[ValueChange]:
        """The changed values, if the edit changes values."""

    def feed(self, data: bytes) -> bytes:
        """Take the next part of the body; return what can be sent."""

    def close(self) -> bytes:
        """Return the rest at the end of the body."""


class ActiveRewrite(Struct, frozen=True):
    """The edit of one response: of its body and of its head."""

    body: Rewriter
    header: Callable[[str, str], str | None] = lambda _, value: value
    """Maps a field's name in lower case and its value to the new value; None removes the field."""
    extra_headers: Sequence[tuple[str, str]] = ()
    """Fields added to the head."""
    keeps_body: bool = False
    """The body passes unchanged in its content coding, and the head still describes it."""


class Edit(Protocol):
    """A change of responses, as frozen data."""

    @property
    def report(self) -> str:
        """The path to which the changed page sends its reports; empty for none."""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Return the edit of a response with this head; None if it does not apply."""
