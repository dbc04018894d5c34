"""What an edit of a site's answer is: decided by its head, done as its body streams."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from warex.exchange import Request, Response


class Rewriter(Protocol):
    """Changes one body as it streams, without its content codings."""

    @property
    def applied(self) -> bool:
        """Whether there was something to change."""
        ...

    def feed(self, data: bytes) -> bytes:
        """Return what can go on, now that more of the body has come."""
        ...

    def close(self) -> bytes:
        """Return what is left, now that all of the body has come."""
        ...


@dataclass(frozen=True, slots=True)
class Rewriting:
    """An edit under way: what becomes of an answer's body, and of its head."""

    body: Rewriter
    header: Callable[[str, str], str] = lambda _, value: value
    """Given a field's name in lower case and its value, what the value is to be."""


class Edit(Protocol):
    """A change of answers, as plain frozen data."""

    @property
    def report(self) -> str:
        """The path at which the proxy hears what the changed page reports; empty for none."""
        ...

    def begin(self, request: Request, response: Response) -> Rewriting | None:
        """Begin to change an answer with this head; None where it has nothing of the kind."""
        ...
