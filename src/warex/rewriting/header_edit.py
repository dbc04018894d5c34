"""The head of an answer changed, and its body left as the site sent it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from warex.exchange import Request, Response
from warex.rewriting.base import ActiveRewrite, ValueChange

_PAGES: Final = ("text/html", "application/xhtml+xml")
_NOT_WHOLE: Final = (204, 205, 206, 304)


@dataclass(frozen=True, slots=True)
class HeaderEdit:
    """Takes fields out of an answer's head, and adds others at its end.

    Names are in lower case. ``of_pages``: only where a browser shows the answer as an HTML page, so
    neither a redirect nor an image. Where nothing is added there must be a field to take out.
    """

    remove: tuple[str, ...] = ()
    add: tuple[tuple[str, str], ...] = ()
    html_only: bool = True
    report: str = ""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Begin with the answer's head; None where there is nothing to change."""
        if self.html_only and not _is_page(request, response):
            return None
        if not self.add and not any(name in response.headers for name in self.remove):
            return None
        return ActiveRewrite(Unchanged(), self._field, self.add, keeps_body=True)

    def _field(self, name: str, value: str) -> str | None:
        return None if name in self.remove else value


def _is_page(request: Request, response: Response) -> bool:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    empty = request.method == "HEAD" or response.status in _NOT_WHOLE
    return kind in _PAGES and not empty and not 300 <= response.status < 400


class Unchanged:
    """A body that passes as it is."""

    applied: bool = True
    changes: Sequence[ValueChange] = ()

    def feed(self, data: bytes) -> bytes:
        """Return what has come."""
        return data

    def close(self) -> bytes:
        """Return nothing more."""
        return b""
