"""A value of the answer key: what the site said, and what a client was given."""

from msgspec import Struct


class ChangedValue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A value in an answer that is not what the site said."""

    where: str
    """A JSON pointer, or the line and column of a page's text."""
    before: str
    """What the site said."""
    after: str | None
    """What the client was given; None where it was taken out."""
