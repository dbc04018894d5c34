"""What events consist of, beside plain values."""

from typing import Any, Literal

from msgspec import Struct

from warex.exchange import SiteFailure as SiteFailure

type Json = Any
type ArmedBy = Literal["start", "first_page", "first_llm_call", "control"]
"""What armed the rules."""
type MissReason = Literal[
    "not_armed",
    "never",
    "client_gone",
    "client_left",
    "site_failed",
    "trial_over",
    "superseded",
    "nothing_to_rewrite",
    "not_streamed",
    "decompression_bomb",
    "not_rendered",
    "removed_by_page",
    "browser_cache",
    "websocket",
]
"""Why a planned injection did not reach the client."""


class BaseEvent(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event", gc=False
):
    """An event; ``gc=False`` since it has no cyclic references."""

    @property
    def event(self) -> str:
        """The name of its type."""
        return str(self.__struct_config__.tag)


class Timings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Seconds of one exchange; None if a phase did not happen."""

    connect: float | None = None
    tls: float | None = None
    wait: float | None = None
    """From the request's last byte until the response's first."""
    receive: float | None = None
    total: float
    """From the request's first byte until the response's last, at the proxy."""


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
