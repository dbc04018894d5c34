"""What an edit of a site's answer is: decided by its head, done as its body streams."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from warex.exchange import Request, Response

_LONGEST: Final = 300
"""Characters of a value that are told."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One value that is not what the site said: where it stands, and both values as text."""

    where: str
    before: str
    after: str | None
    """None where it was taken out."""

    def short(self) -> "ValueChange":
        """Return it with long values cut off."""
        after = self.after if self.after is None else self.after[:_LONGEST]
        return ValueChange(self.where[:_LONGEST], self.before[:_LONGEST], after)


class Rewriter(Protocol):
    """Changes one body as it streams, without its content codings."""

    @property
    def applied(self) -> bool:
        """Whether there was something to change."""
        ...

    @property
    def changes(self) -> Sequence[ValueChange]:
        """The values that were changed, as far as the edit is about values."""
        ...

    def feed(self, data: bytes) -> bytes:
        """Return what can go on, now that more of the body has come."""
        ...

    def close(self) -> bytes:
        """Return what is left, now that all of the body has come."""
        ...


@dataclass(frozen=True, slots=True)
class ActiveRewrite:
    """An edit under way: what becomes of an answer's body, and of its head."""

    body: Rewriter
    header: Callable[[str, str], str | None] = lambda _, value: value
    """Given a field's name in lower case and its value, what the value is to be; None for none."""
    extra_headers: Sequence[tuple[str, str]] = ()
    """Fields that the head has beside the site's."""
    keeps_body: bool = False
    """The body passes as it comes, in its coding, and what the head says of its bytes is true."""


class Edit(Protocol):
    """A change of answers, as plain frozen data."""

    @property
    def report(self) -> str:
        """The path at which the proxy hears what the changed page reports; empty for none."""
        ...

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Begin to change an answer with this head; None where it has nothing of the kind."""
        ...
