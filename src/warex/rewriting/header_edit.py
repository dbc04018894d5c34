"""Changes the head of a response and keeps its body."""

from collections.abc import Sequence
from dataclasses import dataclass

from warex.exchange import Request, Response
from warex.rewriting.base import HTML_TYPES, ActiveRewrite, ValueChange, has_body, media_type


@dataclass(frozen=True, slots=True)
class HeaderEdit:
    """Removes fields of a response's head, and appends others.

    Names are in lower case. With ``html_only`` it applies only to responses that a browser shows as
    an HTML page. Without ``add`` it applies only if there is a field to remove.
    """

    remove: tuple[str, ...] = ()
    add: tuple[tuple[str, str], ...] = ()
    html_only: bool = True
    report: str = ""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Return the edit of the head; None if there is nothing to change."""
        if self.html_only and not (
            media_type(response) in HTML_TYPES
            and has_body(request, response)
            and not 300 <= response.status < 400
        ):
            return None
        if not self.add and not any(name in response.headers for name in self.remove):
            return None
        return ActiveRewrite(Unchanged(), self._field, self.add, keeps_body=True)

    def _field(self, name: str, value: str) -> str | None:
        return None if name in self.remove else value


class Unchanged:
    """Passes a body unchanged."""

    applied: bool = True
    changes: Sequence[ValueChange] = ()

    def feed(self, data: bytes) -> bytes:
        """Return the data."""
        return data

    def close(self) -> bytes:
        """Return nothing."""
        return b""
