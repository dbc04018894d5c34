"""A value of the answer key: the site's and the client's."""

from typing import Literal

from msgspec import Struct


class ChangedValue(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A changed value in a response."""

    where: str
    """A JSON pointer, or the line of a page's text."""
    before: str
    """The site's value."""
    after: str | None
    """The client's value; None if it was removed."""
    reported_by: Literal["proxy", "page"] = "proxy"
    """``page``: read in the page by the fault's script, so the texts are the site's claim."""
