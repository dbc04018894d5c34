"""A value of the answer key: the site's and the client's."""

from msgspec import Struct


class ChangedValue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A changed value in a response."""

    where: str
    """A JSON pointer, or the line of a page's text."""
    before: str
    """The site's value."""
    after: str | None
    """The client's value; None if it was removed."""
